{{/* Ends the installation where the system `graph` would live where it must not, or act where nobody may have it act. */}}
{{- define "autopilot.graphChoices" -}}
{{- $own := .Values.systems.graph.namespace -}}
{{- if eq $own .Release.Namespace -}}
{{- fail (printf "systems.graph.namespace is %s, the namespace of the release: whoever may write there could forge what the baseline keeps, and with it an approval; name another one" $own) -}}
{{- end -}}
{{- range .Values.systems.graph.enroll -}}
{{- if has . (list $own $.Release.Namespace) -}}
{{- fail (printf "systems.graph.enroll has %s, which is ours: whoever may write a Transform there would act by the accounts of the platform" .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What the pods of both processes have beside the baseline's; nothing else can be written to. */}}
{{- define "autopilot.graphParts" -}}
image: {{ include "autopilot.graphImage" . | quote }}
mounts: |-
  - name: tmp
    mountPath: /tmp
volumes: |-
  - name: tmp
    emptyDir: {}
{{- end }}

{{/* The first arguments of a command of the system. */}}
{{- define "autopilot.graphCommand" -}}
- {{ .command }}
- graph
- --namespace={{ .root.Values.systems.graph.namespace }}
{{- end }}
