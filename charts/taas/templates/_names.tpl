{{/* Names and labels. Selector labels never change: a Deployment's selector cannot be changed. */}}

{{/* Long enough for every suffix below within the 63 characters of a Service's name. */}}
{{- define "taas.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "taas.operatorName" -}}
{{ include "taas.fullname" . }}-operator
{{- end -}}

{{- define "taas.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "taas.operatorName" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* `taas doctor` finds the operator's pods by this name. */}}
{{- define "taas.selectorLabels" -}}
app.kubernetes.io/name: taas-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of a pod: without a version, so that a new chart alone starts no pod anew. */}}
{{- define "taas.podLabels" -}}
{{- $ours := include "taas.selectorLabels" . | fromYaml -}}
{{- $_ := set $ours "app.kubernetes.io/part-of" "taas" -}}
{{- toYaml (merge $ours .Values.commonLabels) -}}
{{- end -}}

{{- define "taas.labels" -}}
{{- $ours := include "taas.podLabels" . | fromYaml -}}
{{- $_ := set $ours "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $ours "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $ours "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- toYaml $ours -}}
{{- end -}}

{{/* The reference of an image: (list ROOT IMAGE). A digest counts instead of the tag. */}}
{{- define "taas.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- with $root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default $root.Chart.AppVersion $image.tag }}{{ end -}}
{{- end -}}

{{/* The labels of an object that others select by labels of their own: (list ROOT LABELS). */}}
{{- define "taas.labelsAnd" -}}
{{- toYaml (merge (include "taas.labels" (index . 0) | fromYaml) (index . 1)) -}}
{{- end -}}
