{{/* What cert-manager makes the serving certificate of a system's webhook from; .root, .name, .namespace. */}}
{{- define "autopilot.certificateObjects" -}}
{{- $labels := dict "root" .root "name" .name "component" "webhook" }}
{{- $name := printf "%s-webhook" .name }}
{{- $issuer := .root.Values.certificates.issuerRef }}
{{- if not $issuer.name }}
{{- $issuer = dict "group" "cert-manager.io" "kind" "Issuer" "name" $name }}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: {{ $name }}-root
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ $name }}-authority
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  isCA: true
  commonName: {{ $name }}
  secretName: {{ $name }}-authority
  # Whoever renews it swaps what the API server trusts at once: rarely.
  duration: 87600h
  privateKey:
    algorithm: ECDSA
    size: 256
  issuerRef:
    group: cert-manager.io
    kind: Issuer
    name: {{ $name }}-root
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  ca:
    secretName: {{ $name }}-authority
---
{{- end }}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  secretName: {{ include "autopilot.servingSecret" . }}
  dnsNames:
    - {{ $name }}.{{ .namespace }}.svc
    - {{ $name }}.{{ .namespace }}.svc.cluster.local
  duration: 2160h
  usages:
    - server auth
    - digital signature
    - key encipherment
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
  issuerRef:
    {{- toYaml $issuer | nindent 4 }}
{{- end }}
