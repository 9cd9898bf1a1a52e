{{/* Who may call the processes of a system; .root, .name, .namespace. Where to is left open: how pods reach the API server differs from cluster to cluster. */}}
{{- define "autopilot.networkPolicies" -}}
{{- $system := . }}
{{- $policy := .root.Values.networkPolicy }}
{{- range $component := list "webhook" "reconciler" }}
{{- $labels := dict "root" $system.root "name" $system.name "component" $component }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $system.name }}-{{ $component }}
  namespace: {{ $system.namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "autopilot.selector" $labels | nindent 6 }}
  policyTypes:
    - Ingress
  ingress:
    {{- if eq $component "webhook" }}
    - ports:
        - protocol: TCP
          port: admission
      {{- with $policy.apiServers }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
    - ports:
        - protocol: TCP
          port: ops
      {{- with $policy.scrapers }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
{{- end }}

{{/* What lets a Prometheus that has no rights of its own in every namespace look for the pods of a system; .root, .name, .namespace. */}}
{{- define "autopilot.scraperObjects" -}}
{{- $prometheus := .root.Values.monitoring.prometheus }}
{{- $labels := dict "root" .root "name" .name "component" "metrics" }}
{{- $name := printf "%s-scraper" .name }}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
rules:
  - apiGroups:
      - ""
    resources:
      - services
      - endpoints
      - pods
    verbs:
      - get
      - list
      - watch
  - apiGroups:
      - discovery.k8s.io
    resources:
      - endpointslices
    verbs:
      - get
      - list
      - watch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "autopilot.labels" $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $prometheus.serviceAccount | quote }}
    namespace: {{ $prometheus.namespace | quote }}
{{- end }}
