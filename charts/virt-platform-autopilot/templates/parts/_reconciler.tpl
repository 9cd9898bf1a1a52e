{{/*
The Deployment of a system's reconciler.
.root, .name, .namespace and .image; .values are those of the process; .command, .args, .mounts and .volumes are YAML lists of what is its own.
*/}}
{{- define "autopilot.reconcilerObjects" -}}
{{- $labels := dict "root" .root "name" .name "component" "reconciler" }}
{{- $name := printf "%s-reconciler" .name }}
{{- $webhook := printf "%s-webhook" .name }}
{{- $mode := .root.Values.certificates.mode }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  replicas: {{ .values.replicas }}
  selector:
    matchLabels:
      {{- include "autopilot.selector" $labels | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "autopilot.labels" $labels | nindent 8 }}
      annotations:
        {{- include "autopilot.podAnnotations" .root | nindent 8 }}
    spec:
      serviceAccountName: {{ $name }}
      # For the write in hand, and to release the Lease.
      terminationGracePeriodSeconds: 30
      {{- include "autopilot.podSettings" .root | trim | nindent 6 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "autopilot.selector" $labels | nindent 14 }}
          matchLabelKeys:
            - pod-template-hash
      containers:
        - name: reconciler
          {{- include "autopilot.container" . | nindent 10 }}
          args:
            {{- .command | nindent 12 }}
            - --webhook-service={{ $webhook }}
            - --log-level={{ .root.Values.logLevel }}
            {{- if eq $mode "cert-manager" }}
            - --webhook-ca-injection=cert-manager.io/inject-ca-from={{ .namespace }}/{{ $webhook }}
            {{- else if eq $mode "service-ca" }}
            - --webhook-ca-injection=service.beta.openshift.io/inject-cabundle=true
            {{- end }}
            {{- with .args }}{{ . | nindent 12 }}{{ end }}
            {{- with .values.extraArgs }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - name: ops
              containerPort: 8080
              protocol: TCP
          {{- include "autopilot.opsProbes" .root | nindent 10 }}
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          {{- with .mounts }}
          volumeMounts:
            {{- . | nindent 12 }}
          {{- end }}
      {{- with .volumes }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}
