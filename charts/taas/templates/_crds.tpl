{{/* Which definitions of kinds belong to the release. */}}

{{/* Who has TFJob's definition already: empty (nobody, or this release), else whose it is. */}}
{{- define "taas.tfJobCrdOwner" -}}
{{- $found := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "tfjobs.kubeflow.org" -}}
{{- if $found -}}
{{- $notes := default dict $found.metadata.annotations -}}
{{- $release := index $notes "meta.helm.sh/release-name" -}}
{{- $namespace := index $notes "meta.helm.sh/release-namespace" -}}
{{- if not (and (eq (toString $release) .Release.Name) (eq (toString $namespace) .Release.Namespace)) -}}
{{- if $release -}}
release {{ $release }} in namespace {{ $namespace }}
{{- else -}}
somebody who does not use Helm
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Not empty: TFJob's definition is one of the release's objects. */}}
{{- define "taas.hasTfJobCrd" -}}
{{- if .Values.crds.install -}}
{{- $wanted := toString .Values.crds.tfjob -}}
{{- if eq $wanted "true" -}}
yes
{{- else if and (eq $wanted "auto") (has "TFJob" .Values.operator.kinds) -}}
{{- if not (include "taas.tfJobCrdOwner" .) -}}
yes
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
