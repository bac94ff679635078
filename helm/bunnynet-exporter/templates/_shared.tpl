{{/* The names, labels and checks that the manifests share. */}}

{{- define "bunnynet-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* At most 50 characters: a StatefulSet adds an ordinal and a revision's hash. */}}
{{- define "bunnynet-exporter.fullname" -}}
{{- $name := include "bunnynet-exporter.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "bunnynet-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bunnynet-exporter.commonLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.labels" -}}
{{ include "bunnynet-exporter.selectorLabels" . }}
{{ include "bunnynet-exporter.commonLabels" . }}
{{- end }}

{{- define "bunnynet-exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "bunnynet-exporter.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.image" -}}
{{- with .Values.image }}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.sharded" -}}
{{- if gt (int .Values.shards) 1 }}true{{ end }}
{{- end }}

{{/* The Service of shards is headless and has its own name, because an existing Service cannot become headless. */}}
{{- define "bunnynet-exporter.serviceName" -}}
{{- include "bunnynet-exporter.fullname" . }}{{ if include "bunnynet-exporter.sharded" . }}-shards{{ end }}
{{- end }}

{{/* Checks that the schema cannot express. */}}
{{- define "bunnynet-exporter.check" -}}
{{- $sections := omit .Values.config "credentials" "apis" "limits" }}
{{- if and .Values.demo (or .Values.config .Values.credentials) }}
{{- fail "demo: the simulator has its own configuration and keys; leave config and credentials empty" }}
{{- end }}
{{- if and (not .Values.demo) (not $sections) }}
{{- fail "config: nothing to poll; add a section such as applications, or try demo=true" }}
{{- end }}
{{- if and $sections (not .Values.credentials) (not .Values.config.credentials) }}
{{- fail "credentials: none is given; name the Secret that holds your key: credentials[0].name=account, credentials[0].existingSecret=…" }}
{{- end }}
{{- $names := dict }}
{{- range .Values.credentials }}
{{- if or (hasKey $names .name) (hasKey ($.Values.config.credentials | default dict) .name) }}
{{- fail (printf "credentials: %q is given twice" .name) }}
{{- end }}
{{- $_ := set $names .name true }}
{{- end }}
{{- end }}

{{/* The exporter's configuration: `config` with the credentials of the mounted Secrets. */}}
{{- define "bunnynet-exporter.config" -}}
{{- $credentials := dict }}
{{- range .Values.credentials }}
{{- $_ := set $credentials .name (dict "file" (printf "/etc/bunnynet-exporter/credentials/%s" .name)) }}
{{- end }}
{{- $credentials = merge $credentials (.Values.config.credentials | default dict) }}
{{- toYaml (merge (dict "credentials" $credentials) (omit .Values.config "credentials")) }}
{{- end }}

{{/* A probe that the web configuration lets through: HTTPS with TLS, only a connection where clients must authenticate. */}}
{{- define "bunnynet-exporter.probe" -}}
{{- $probe := deepCopy .probe }}
{{- if and .web.config.existingSecret $probe.httpGet }}
{{- if .web.config.guarded }}
{{- $_ := set $probe "tcpSocket" (dict "port" $probe.httpGet.port) }}
{{- $probe = omit $probe "httpGet" }}
{{- else if .web.config.tls }}
{{- $_ := set $probe.httpGet "scheme" "HTTPS" }}
{{- end }}
{{- end }}
{{- toYaml $probe }}
{{- end }}

{{/* The part that ServiceMonitor and PodMonitor share; takes the monitor's values and the chart's. */}}
{{- define "bunnynet-exporter.endpoint" -}}
port: http
path: {{ .monitor.path }}
{{- if and .web.config.existingSecret .web.config.tls }}
scheme: https
{{- end }}
{{- with .monitor.interval }}
interval: {{ . }}
{{- end }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Labels of the Pod of `helm test`; the Service and the policies must not select it. */}}
{{- define "bunnynet-exporter.testLabels" -}}
app.kubernetes.io/name: {{ include "bunnynet-exporter.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
