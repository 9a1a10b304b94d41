{{/* What the operator's container is told, and what its pods may not do. */}}

{{- define "taas.operatorArgs" -}}
{{- $operator := .Values.operator -}}
{{- with $operator.namespaces -}}
- --namespaces={{ join "," . }}
{{ end -}}
- --kinds={{ join "," $operator.kinds }}
{{- if $operator.leaderElection.enabled }}
- --leader-elect
- --lease-namespace={{ .Release.Namespace }}
- --lease-name={{ include "taas.operatorName" . }}
{{- with $operator.leaderElection }}
- --lease-seconds={{ .leaseSeconds }}
- --lease-renew-seconds={{ .renewSeconds }}
- --lease-retry-seconds={{ .retrySeconds }}
{{- end }}
{{- end }}
- --health-addr={{ $operator.bindAddress }}:8081
{{- if .Values.metrics.enabled }}
- --metrics-addr={{ $operator.bindAddress }}:{{ .Values.metrics.port }}
{{- end }}
- --trainer-image={{ include "taas.image" (list . .Values.trainer.image) }}
{{- if .Values.trainer.cudaImage.repository }}
- --trainer-cuda-image={{ include "taas.image" (list . .Values.trainer.cudaImage) }}
{{- end }}
- --api-writes={{ $operator.apiWrites }}
- --gpu-resource={{ $operator.gpuResource }}
{{- with $operator.clusterDomain }}
- --cluster-domain={{ . }}
{{- end }}
- --tfjob-services={{ $operator.tfjobServices }}
{{- if $operator.tfjobLegacyLabels }}
- --tfjob-legacy-labels
{{- end }}
{{- if ne $operator.gangScheduler "none" }}
- --gang-scheduler={{ $operator.gangScheduler }}
{{- with $operator.gangSchedulerName }}
- --gang-scheduler-name={{ . }}
{{- end }}
{{- end }}
{{- if $operator.adopt }}
- --adopt
{{- end }}
- --log-format={{ $operator.logFormat }}
- --log-level={{ $operator.logLevel }}
{{- end -}}

{{/* Together with the next: what Pod Security "restricted" asks for. The user is the image's, or one that the
cluster gives each namespace (OpenShift). */}}
{{- define "taas.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "taas.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
