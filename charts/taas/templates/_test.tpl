{{/* The parts of `helm test`. */}}

{{/* Not empty: there is one. It trains with the bundled trainer, which TFJob has not. */}}
{{- define "taas.hasTest" -}}
{{- if .Values.test.enabled -}}
yes
{{- end -}}
{{- end -}}

{{/* The release's namespace, if the operator works there; else the first that it works in. */}}
{{- define "taas.testNamespace" -}}
{{- $namespaces := .Values.operator.namespaces -}}
{{- if and $namespaces (not (has .Release.Namespace $namespaces)) -}}
{{- first $namespaces -}}
{{- else -}}
{{- .Release.Namespace -}}
{{- end -}}
{{- end -}}

{{/* Another name than the operator's, whose Service and budget would select the test's pod. */}}
{{- define "taas.testLabels" -}}
{{- $labels := include "taas.labels" . | fromYaml -}}
{{- $_ := set $labels "app.kubernetes.io/name" "taas-test" -}}
{{- toYaml $labels -}}
{{- end -}}

{{/* The operator's image has the command line beside the operator. */}}
{{- define "taas.testContainer" -}}
image: {{ include "taas.image" (list . .Values.operator.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [/usr/bin/taas]
resources:
  requests: {cpu: 20m, memory: 32Mi}
  limits: {cpu: 200m, memory: 128Mi}
securityContext:
  {{- include "taas.securityContext" . | nindent 2 }}
{{- end -}}
