{{/* The names are the program's own: it looks for its Service, its Secrets and its accounts under them. */}}
{{- define "autopilot.name" -}}virt-platform-autopilot{{- end }}
{{- define "autopilot.reconciler" -}}virt-platform-autopilot-reconciler{{- end }}

{{/* The systems, as what they have in common is rendered by: what theirs is called after, where it lives, and its values. */}}
{{- define "autopilot.baseline" -}}
name: {{ include "autopilot.name" . }}
namespace: {{ .Release.Namespace | quote }}
{{- end }}
{{- define "autopilot.graph" -}}
name: {{ include "autopilot.name" . }}-graph
namespace: {{ .Values.systems.graph.namespace | quote }}
{{- end }}

{{/* Not the Secret of the leader's: whoever changes the mode finds both as they were. */}}
{{- define "autopilot.servingSecret" -}}{{ .name }}-webhook-serving{{- end }}

{{/* What selects the pods of a process; the first one alone is what the Service for metrics selects by. */}}
{{- define "autopilot.selector" -}}
app.kubernetes.io/name: {{ .name | default (include "autopilot.name" .root) }}
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
app.kubernetes.io/name: {{ printf "%s-%s" (.name | default (include "autopilot.name" .root)) .component }}
app.kubernetes.io/part-of: {{ include "autopilot.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
{{- end }}

{{- define "autopilot.image" -}}
{{- include "autopilot.imageOf" (merge (dict "version" .Chart.AppVersion) .Values.image) -}}
{{- end }}

{{- define "autopilot.graphImage" -}}
{{- $own := .Values.systems.graph.image -}}
{{- $repository := $own.repository | default (printf "%s-graph" .Values.image.repository) -}}
{{- $tag := $own.tag | default .Values.image.tag -}}
{{- include "autopilot.imageOf" (dict "repository" $repository "tag" $tag "digest" $own.digest "version" .Chart.AppVersion) -}}
{{- end }}

{{- define "autopilot.imageOf" -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default .version }}
{{- end -}}
{{- end }}
