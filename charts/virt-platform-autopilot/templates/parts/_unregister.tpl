{{/*
The Job that runs before anything of a system goes: from then on every write passes, so that none is judged while half of it is gone.
It is in the namespace of the release, which is there whatever became of the installation. .root, .name, .image; .command is a YAML list.
*/}}
{{- define "autopilot.unregisterJob" -}}
{{- $labels := dict "root" .root "name" .name "component" "unregister" }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .name }}-unregister
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "autopilot.jobLabels" $labels | nindent 4 }}
  annotations:
    helm.sh/hook: pre-delete
    # After the account and its role.
    helm.sh/hook-weight: "10"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-output-log-policy: hook-failed
spec:
  backoffLimit: 2
  activeDeadlineSeconds: 120
  template:
    metadata:
      labels:
        {{- include "autopilot.jobLabels" $labels | nindent 8 }}
      annotations:
        {{- include "autopilot.podAnnotations" .root | nindent 8 }}
    spec:
      serviceAccountName: {{ .name }}-unregister
      restartPolicy: Never
      {{- include "autopilot.podSettings" .root | trim | nindent 6 }}
      containers:
        - name: unregister
          {{- include "autopilot.container" . | nindent 10 }}
          args:
            {{- .command | nindent 12 }}
            - --log-level={{ .root.Values.logLevel }}
          resources:
            {{- toYaml .root.Values.reconciler.resources | nindent 12 }}
{{- end }}
