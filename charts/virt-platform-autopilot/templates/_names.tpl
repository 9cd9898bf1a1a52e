{{/* The names are the program's own: it looks for its Service, its Secrets and its accounts under them. */}}
{{- define "autopilot.name" -}}virt-platform-autopilot{{- end }}
{{- define "autopilot.webhook" -}}virt-platform-autopilot-webhook{{- end }}
{{- define "autopilot.reconciler" -}}virt-platform-autopilot-reconciler{{- end }}
{{/* Not the Secret of the leader's: whoever changes the mode finds both as they were. */}}
{{- define "autopilot.servingSecret" -}}virt-platform-autopilot-webhook-serving{{- end }}

{{/* What selects the pods of a process; the first one alone is what the Service for metrics selects by. */}}
{{- define "autopilot.selector" -}}
app.kubernetes.io/name: {{ include "autopilot.name" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "autopilot.labels" -}}
{{ include "autopilot.selector" . }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{/* Of a Job: another name than the processes', since it has no metrics to scrape. */}}
{{- define "autopilot.jobLabels" -}}
app.kubernetes.io/name: {{ printf "%s-%s" (include "autopilot.name" .root) .component }}
app.kubernetes.io/part-of: {{ include "autopilot.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
{{- end }}

{{- define "autopilot.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}
