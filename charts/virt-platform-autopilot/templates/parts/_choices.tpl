{{/* Ends the installation where one of the two choices is not made: no default of ours would be right for everybody. */}}
{{- define "autopilot.choices" -}}
{{- $missing := list -}}
{{- if not .Values.disruptiveChanges -}}
{{- $missing = append $missing `disruptiveChanges is not chosen: what happens to changes that reboot or drain nodes?
  --set disruptiveChanges=hold     they wait, as one set, until an admin approves it by an annotation of the HyperConverged
  --set disruptiveChanges=apply    they are made at once: nodes reboot, pool by pool, as soon as the baseline calls for it` -}}
{{- end -}}
{{- if not .Values.activation -}}
{{- $missing = append $missing `activation is not chosen: what happens to the objects of the platform as soon as this is installed?
  --set activation=observe         nothing is changed or refused; what would be is reported: the way to adopt a cluster that runs
  --set activation=on              they are brought to the baseline at once, and kept there` -}}
{{- end -}}
{{- if $missing -}}
{{- fail (printf "\n\n%s\n\nThe annotations of the HyperConverged (platform.kubevirt.io/disruptive-changes and /autopilot) go before both, at any time.\n" (join "\n\n" $missing)) -}}
{{- end -}}
{{- end }}

{{/* An unquoted `on` in a values file is a boolean to YAML. */}}
{{- define "autopilot.activation" -}}
{{- if kindIs "bool" .Values.activation -}}on{{- else -}}{{ .Values.activation }}{{- end -}}
{{- end }}
