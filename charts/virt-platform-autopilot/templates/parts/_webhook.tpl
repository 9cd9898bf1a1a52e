{{/*
The webhook of a system: its Deployment, its Service and its budget.
.root, .name, .namespace and .image; .values are those of the process; .args, .mounts and .volumes are YAML lists of what is its own.
*/}}
{{- define "autopilot.webhookObjects" -}}
{{- $labels := dict "root" .root "name" .name "component" "webhook" }}
{{- $name := printf "%s-webhook" .name }}
{{- $mode := .root.Values.certificates.mode }}
{{- $isOwn := eq $mode "own" }}
{{- $secret := include "autopilot.servingSecret" . }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  replicas: {{ .values.replicas }}
  # A rollout never has fewer replicas than were asked for: the new one is ready before an old one is told to end.
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
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
      # The API server closes a connection by itself when it was quiet for 90 seconds: whoever goes on serving for longer loses
      # no request. Ten seconds more are for requests in hand, and the rest for a node that is slow.
      terminationGracePeriodSeconds: 120
      {{- include "autopilot.podSettings" .root | trim | nindent 6 }}
      # Where there is one node only, both replicas are better there than one that waits.
      topologySpreadConstraints:
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "autopilot.selector" $labels | nindent 14 }}
          matchLabelKeys:
            - pod-template-hash
        {{- end }}
      containers:
        - name: webhook
          {{- include "autopilot.container" . | nindent 10 }}
          args:
            {{- .command | nindent 12 }}
            - --listen=:{{ .values.port }}
            - --ops-listen=:8080
            - --shutdown-grace=95s
            - --log-level={{ .root.Values.logLevel }}
            {{- if not $isOwn }}
            - --cert-mode=files
            - --cert-dir=/etc/serving-certificate
            {{- end }}
            {{- with .args }}{{ . | nindent 12 }}{{ end }}
            {{- with .values.extraArgs }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - name: admission
              containerPort: {{ .values.port }}
              protocol: TCP
            - name: ops
              containerPort: 8080
              protocol: TCP
          {{- include "autopilot.opsProbes" .root | nindent 10 }}
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          {{- if or (not $isOwn) .mounts }}
          volumeMounts:
            {{- if not $isOwn }}
            - name: serving-certificate
              mountPath: /etc/serving-certificate
              readOnly: true
            {{- end }}
            {{- with .mounts }}{{ . | nindent 12 }}{{ end }}
          {{- end }}
      {{- if or (not $isOwn) .volumes }}
      volumes:
        {{- if not $isOwn }}
        - name: serving-certificate
          secret:
            secretName: {{ $secret }}
        {{- end }}
        {{- with .volumes }}{{ . | nindent 8 }}{{ end }}
      {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
  {{- if eq $mode "service-ca" }}
  annotations:
    service.beta.openshift.io/serving-cert-secret-name: {{ $secret }}
  {{- end }}
spec:
  selector:
    {{- include "autopilot.selector" $labels | nindent 4 }}
  ports:
    - name: admission
      port: 443
      targetPort: admission
      protocol: TCP
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  # Not minAvailable: with one replica that would keep its node from ever being drained.
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "autopilot.selector" $labels | nindent 6 }}
{{- end }}
