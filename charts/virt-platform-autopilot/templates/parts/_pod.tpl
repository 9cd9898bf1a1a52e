{{/* What every pod of ours has in common. */}}
{{- define "autopilot.podSettings" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "autopilot.podSecurity" . | nindent 2 }}
{{- end }}

{{/* No user of its own: OpenShift assigns one, and elsewhere it is the image's. */}}
{{- define "autopilot.podSecurity" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "autopilot.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- define "autopilot.podAnnotations" -}}
{{/* On OpenShift: not another one that happens to have a higher priority, unless somebody says which. */ -}}
{{- toYaml (merge (dict) .Values.podAnnotations (dict "openshift.io/required-scc" "restricted-v2")) }}
{{- end }}

{{- define "autopilot.containerImage" -}}
{{- include "autopilot.container" (dict "root" . "image" (include "autopilot.image" .)) }}
{{- end }}

{{- define "autopilot.container" -}}
image: {{ .image | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "autopilot.containerSecurity" .root | nindent 2 }}
{{- end }}

{{/* Arguments of everything that looks at the platform as the leader does. */}}
{{- define "autopilot.hcoArgs" -}}
{{- with .Values.hcoNamespace }}
- --hco-namespace={{ . }}
{{- end }}
{{- end }}

{{- define "autopilot.assetsArgs" -}}
{{- if .Values.ownAssets.configMap }}
- --assets=/etc/own-assets
{{- end }}
{{- end }}

{{- define "autopilot.assetsMount" -}}
{{- if .Values.ownAssets.configMap }}
- name: own-assets
  mountPath: /etc/own-assets
  readOnly: true
{{- end }}
{{- end }}

{{- define "autopilot.assetsVolume" -}}
{{- with .Values.ownAssets }}
{{- if .configMap }}
- name: own-assets
  configMap:
    name: {{ .configMap | quote }}
    {{- with .items }}
    items:
      {{- toYaml . | nindent 6 }}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The pod that says what the leader would change: once before an installation, and whenever somebody asks. */}}
{{- define "autopilot.diffPod" -}}
serviceAccountName: {{ .account }}
restartPolicy: Never
{{ include "autopilot.podSettings" .root | trim }}
containers:
  - name: diff
    {{- include "autopilot.containerImage" .root | nindent 4 }}
    args:
      - diff
      - --log-level={{ .root.Values.logLevel }}
      {{- range .args }}
      - {{ . }}
      {{- end }}
      {{- with include "autopilot.hcoArgs" .root | trim }}{{ . | nindent 6 }}{{ end }}
      {{- with include "autopilot.assetsArgs" .root | trim }}{{ . | nindent 6 }}{{ end }}
    resources:
      {{- toYaml .root.Values.reconciler.resources | nindent 6 }}
    {{- with include "autopilot.assetsMount" .root | trim }}
    volumeMounts:
      {{- . | nindent 6 }}
    {{- end }}
{{- with include "autopilot.assetsVolume" .root | trim }}
volumes:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The endpoints that both processes have beside what they do. */}}
{{- define "autopilot.opsProbes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: ops
  periodSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: ops
  periodSeconds: 5
{{- end }}
