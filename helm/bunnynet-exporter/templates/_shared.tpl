{{/* The names, labels and checks that the manifests share. */}}

{{/*
Gives every value that is set to nothing its default, so that a section may stand there with all its lines commented out: Helm
has removed it. What Kubernetes reads, such as `podSecurityContext`, is not filled in, so that `null` can leave out a part of it.
*/}}
{{- define "bunnynet-exporter.defaults" -}}
{{- include "bunnynet-exporter.fill" (dict "values" .Values "defaults" (.Files.Get "files/defaults.yaml" | fromYaml)) }}
{{- end }}

{{- define "bunnynet-exporter.fill" -}}
{{- range $key, $default := .defaults }}
{{- if kindIs "invalid" (index $.values $key) }}
{{- $_ := set $.values $key $default }}
{{- else if and $default (kindIs "map" $default) }}
{{- include "bunnynet-exporter.fill" (dict "values" (index $.values $key) "defaults" $default) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 58 | trimSuffix "-" }}
{{- end }}

{{/* At most 58 characters: the Pod of `helm test` adds five, and a label has 63. */}}
{{- define "bunnynet-exporter.fullname" -}}
{{- $name := include "bunnynet-exporter.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 58 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 58 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 58 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "bunnynet-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "bunnynet-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "bunnynet-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/*
Several maps as one, as YAML; where two have a key, the later one wins. A key that stands twice is YAML that Kustomize and Flux
refuse. Empty where no map has a key.
*/}}
{{- define "bunnynet-exporter.merge" -}}
{{- $merged := dict }}
{{- range . }}
{{- range $key, $value := . }}
{{- $_ := set $merged $key $value }}
{{- end }}
{{- end }}
{{- with $merged }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* Labels that stay the same from one version of the chart to the next. */}}
{{- define "bunnynet-exporter.stableLabels" -}}
{{ include "bunnynet-exporter.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "bunnynet-exporter.versionLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels of an object: takes those that its values add, and the chart's context. The chart's own win, so selectors stay. */}}
{{- define "bunnynet-exporter.labelsWith" -}}
{{- $own := list (include "bunnynet-exporter.versionLabels" .root | fromYaml) (include "bunnynet-exporter.stableLabels" .root | fromYaml) }}
{{- include "bunnynet-exporter.merge" (concat (list .root.Values.commonLabels .more) $own) }}
{{- end }}

{{- define "bunnynet-exporter.labels" -}}
{{- include "bunnynet-exporter.labelsWith" (dict "root" . "more" dict) }}
{{- end }}

{{/* Labels of the Pods, without those that change with the chart's version, so that a new version alone replaces no Pod. */}}
{{- define "bunnynet-exporter.podLabels" -}}
{{- include "bunnynet-exporter.merge" (list .Values.commonLabels .Values.podLabels (include "bunnynet-exporter.stableLabels" . | fromYaml)) }}
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
{{- with $.Values.global.imageRegistry | default .registry }}{{ . | trimSuffix "/" }}/{{ end }}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end }}
{{- end }}
{{- end }}

{{/* The chart's own image pull secrets and those that it shares with other charts, which may be plain names; as JSON. */}}
{{- define "bunnynet-exporter.imagePullSecrets" -}}
{{- $secrets := .Values.imagePullSecrets }}
{{- range .Values.global.imagePullSecrets }}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) }}
{{- end }}
{{- toJson (uniq $secrets) }}
{{- end }}

{{/* Whether counters are kept: the demo keeps none. */}}
{{- define "bunnynet-exporter.state" -}}
{{- if and .Values.state.enabled (not .Values.demo) }}true{{ end }}
{{- end }}

{{/* Whose claim they are kept in: `own` of the chart, `existing`, or none. */}}
{{- define "bunnynet-exporter.stateClaim" -}}
{{- if and (include "bunnynet-exporter.state" .) .Values.state.claim.enabled }}{{ ternary "existing" "own" (ne .Values.state.claim.existing "") }}{{ end }}
{{- end }}

{{/* The sections of kinds, as JSON. */}}
{{- define "bunnynet-exporter.sections" -}}
{{- omit .Values.config "credentials" "accounts" "apis" "interval_factor" "state" "discovery" | toJson }}
{{- end }}

{{/* Whether the configuration reads anything with the key of `existingSecret`: a credential that nothing uses is an error. */}}
{{- define "bunnynet-exporter.usesAccount" -}}
{{- $sections := include "bunnynet-exporter.sections" . | fromJson }}
{{- $used := or (include "bunnynet-exporter.discoversAll" .) (contains (quote .Values.accountName) (toJson (omit .Values.config "credentials"))) }}
{{- if not (hasKey .Values.config "accounts") }}
{{- $used = or $used (eq (dig "discovery" "kinds" "" .Values.config) "all") }}
{{- range $sections }}
{{- $used = or $used (not (hasKey . "credential")) }}
{{- end }}
{{- end }}
{{- if $used }}true{{ end }}
{{- end }}

{{/* Every credential as JSON, that of `existingSecret` first. */}}
{{- define "bunnynet-exporter.credentials" -}}
{{- $account := list }}
{{- if and .Values.existingSecret (or .Values.existingConfigMap (include "bunnynet-exporter.usesAccount" .)) }}
{{- $account = list (dict "name" .Values.accountName "existingSecret" .Values.existingSecret "key" .Values.existingSecretKey) }}
{{- end }}
{{- concat $account .Values.credentials | toJson }}
{{- end }}

{{/* Whether the configuration selects nothing to poll: the storage of videos is beside all kinds, and never instead of them. */}}
{{- define "bunnynet-exporter.discoversAll" -}}
{{- $others := omit (include "bunnynet-exporter.sections" . | fromJson) "video_storage" }}
{{- if and (not $others) (ne (dig "discovery" "kinds" "all" .Values.config) "none") }}true{{ end }}
{{- end }}

{{/* A configuration without the sections of the video API, whose keys are those of libraries; as JSON. */}}
{{- define "bunnynet-exporter.withoutVideos" -}}
{{- omit . "video_library_statistics" "video_encoding" "video_storage" | toJson }}
{{- end }}

{{/*
What is wrong with several credentials: the program refuses those that nothing uses, and must know which of them are an account's
key. It takes those that `accounts` lists, else those that are named by anything but sections of videos, else the only one that is
not named.
*/}}
{{- define "bunnynet-exporter.credentialsProblem" -}}
{{- $config := omit .Values.config "credentials" }}
{{- $unnamed := list }}
{{- $ofAccounts := list }}
{{- range .names }}
{{- if not (contains (quote .) (toJson $config)) }}
{{- $unnamed = append $unnamed . }}
{{- else if contains (quote .) (include "bunnynet-exporter.withoutVideos" $config) }}
{{- $ofAccounts = append $ofAccounts . }}
{{- end }}
{{- end }}
{{- $readsAccount := or (include "bunnynet-exporter.discoversAll" .) (eq (dig "discovery" "kinds" "" $config) "all") }}
{{- range include "bunnynet-exporter.sections" . | fromJson }}
{{- $readsAccount = or $readsAccount (not (kindIs "slice" .targets)) }}
{{- end }}
{{- $isKnown := or $config.accounts $ofAccounts (eq (len $unnamed) 1) }}
{{- if and $readsAccount (not $isKnown) }}
{{- print "config.accounts: with several credentials, list those that are an account's key" }}
{{- else if and $unnamed (or $config.accounts $ofAccounts (not $readsAccount)) }}
{{- printf "credentials: nothing uses %q; name it in config.accounts, in a section or at a target, or remove it" (first $unnamed) }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express. */}}
{{- define "bunnynet-exporter.check" -}}
{{- $credentials := include "bunnynet-exporter.credentials" . | fromJsonArray }}
{{- if .Values.demo }}
{{- if or .Values.config $credentials .Values.existingConfigMap }}
{{- fail "demo: the simulator has its own configuration and keys; leave config, existingConfigMap, credentials and existingSecret empty" }}
{{- end }}
{{- else if .Values.existingConfigMap }}
{{- if .Values.config }}
{{- fail "existingConfigMap: it holds the whole configuration; leave config empty" }}
{{- end }}
{{- else if and (eq (dig "discovery" "kinds" "" .Values.config) "none") (not (include "bunnynet-exporter.sections" . | fromJson)) }}
{{- fail "config.discovery.kinds: with none and no section nothing is polled; leave it out" }}
{{- else if not (or $credentials .Values.config.credentials) }}
{{- fail "existingSecret: name the Secret that holds your account's key (key access-key), or try demo=true" }}
{{- end }}
{{- $names := dict }}
{{- range $credentials }}
{{- if or (hasKey $names .name) (hasKey ($.Values.config.credentials | default dict) .name) }}
{{- fail (printf "credentials: %q is given twice" .name) }}
{{- end }}
{{- $_ := set $names .name true }}
{{- end }}
{{- $known := merge (dict) $names (.Values.config.credentials | default dict) }}
{{- range .Values.config.accounts }}
{{- if and (not $.Values.existingConfigMap) (not (hasKey $known .)) }}
{{- fail (printf "config.accounts: %q is no credential; they are %s" . (keys $known | sortAlpha | join ", ")) }}
{{- end }}
{{- end }}
{{- if and (gt (len $known) 1) (not .Values.existingConfigMap) }}
{{- with include "bunnynet-exporter.credentialsProblem" (dict "Values" .Values "names" (keys $known | sortAlpha)) }}
{{- fail . }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
{{- fail "serviceMonitor, podMonitor: with both, every Pod is scraped twice; enable one" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.service.enabled) }}
{{- fail "serviceMonitor: it finds the Pods by their Service; set service.enabled=true, or enable podMonitor instead" }}
{{- end }}
{{- if and .Values.service.nodePort (eq .Values.service.type "ClusterIP") }}
{{- fail "service.nodePort: only with service.type NodePort or LoadBalancer" }}
{{- end }}
{{- with .Values.prometheusRule.disabled }}
{{- $alerts := list }}
{{- range $path, $_ := $.Files.Glob "rules/*.yml" }}
{{- range ($.Files.Get $path | fromYaml).groups }}
{{- range .rules }}
{{- $alerts = append $alerts .alert }}
{{- end }}
{{- end }}
{{- end }}
{{- range . }}
{{- if not (has . $alerts) }}
{{- fail (printf "prometheusRule.disabled: there is no alert %q; docs/alerts.md has their names" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
{{- if and (hasPrefix "--web.probe-address" .) (include "bunnynet-exporter.requiresAuth" $) }}
{{- fail "extraArgs: set web.probePort instead of --web.probe-address, so that the probes use the same port" }}
{{- end }}
{{- if hasPrefix "--web.telemetry-path" . }}
{{- fail "extraArgs: set web.telemetryPath instead of --web.telemetry-path, so that monitors and the test use the same path" }}
{{- end }}
{{- end }}
{{- if and .Values.state.enabled (dig "state" "file" "" .Values.config) }}
{{- fail "config.state.file: state.enabled says where counters are kept; give one of the two" }}
{{- end }}
{{- if and .Values.state.claim.enabled (not .Values.state.enabled) }}
{{- fail "state.claim.enabled: only with state.enabled" }}
{{- end }}
{{- if and .Values.state.claim.existing (not .Values.state.claim.enabled) }}
{{- fail "state.claim.existing: only with state.claim.enabled" }}
{{- end }}
{{- if gt (int .Values.replicas) 1 }}
{{- fail "replicas: one is enough, since the API's rate is the limit, and two would ask for everything twice; set 1, or 0 to stop it" }}
{{- end }}
{{- if include "bunnynet-exporter.stateClaim" . }}
{{- $default := dict "type" "RollingUpdate" "rollingUpdate" (dict "maxSurge" 1 "maxUnavailable" 0) }}
{{- $type := dig "type" "RollingUpdate" (.Values.strategy | default dict) }}
{{- if and .Values.strategy (ne $type "Recreate") (ne (toJson .Values.strategy) (toJson $default)) }}
{{- fail "strategy: with state.claim.enabled it is Recreate, since two Pods cannot write one file; leave it out" }}
{{- end }}
{{- if .Values.probes.startup.strict }}
{{- fail "probes.startup.strict: with state.claim.enabled the old Pod ends before the new one starts, so nothing would serve on while that waits for a good answer; leave one of the two out" }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
{{- if and (hasPrefix "--state.file" .) $.Values.state.enabled }}
{{- fail "extraArgs: state.enabled sets --state.file; give one of the two" }}
{{- end }}
{{- end }}
{{- if and .Values.probes.startup.strict .Values.startupProbe }}
{{- fail "startupProbe: probes.startup.strict sets it; give one of the two" }}
{{- end }}
{{- if and (include "bunnynet-exporter.requiresAuth" .) (eq (int .Values.web.port) (int .Values.web.probePort)) }}
{{- fail "web.probePort: with web.config.requiresAuth the probes need a port of their own, other than web.port" }}
{{- end }}
{{- end }}

{{/*
The exporter's configuration: `config` with the credentials of the mounted Secrets. If it selects nothing, everything in the
account is discovered.
*/}}
{{- define "bunnynet-exporter.config" -}}
{{- $credentials := dict }}
{{- range include "bunnynet-exporter.credentials" . | fromJsonArray }}
{{- $_ := set $credentials .name (dict "file" (printf "/etc/bunnynet-exporter/credentials/%s" .name)) }}
{{- end }}
{{- $credentials = merge $credentials (.Values.config.credentials | default dict) }}
{{- $rest := omit .Values.config "credentials" }}
{{- if include "bunnynet-exporter.discoversAll" . }}
{{- $rest = mergeOverwrite (dict) $rest (dict "discovery" (dict "kinds" "all")) }}
{{- end }}
{{- toYaml (merge (dict "credentials" $credentials) $rest) }}
{{- end }}

{{/* Whether clients need a password or a certificate. Kubernetes has neither, so probes then have their own port. */}}
{{- define "bunnynet-exporter.requiresAuth" -}}
{{- if and .Values.web.config.existingSecret .Values.web.config.requiresAuth }}true{{ end }}
{{- end }}

{{/* A probe that works with the web configuration; takes the probe and the chart's context. */}}
{{- define "bunnynet-exporter.probe" -}}
{{- $probe := deepCopy .probe }}
{{- with $probe.httpGet }}
{{- if and (include "bunnynet-exporter.requiresAuth" $.root) (has (toString .port) (list "http" (toString (int $.root.Values.web.port)))) }}
{{- $_ := set . "port" "probes" }}
{{- else if include "bunnynet-exporter.tls" $.root }}
{{- $_ := set . "scheme" "HTTPS" }}
{{- end }}
{{- end }}
{{- toYaml $probe }}
{{- end }}

{{- define "bunnynet-exporter.tls" -}}
{{- if and .Values.web.config.existingSecret .Values.web.config.tls }}true{{ end }}
{{- end }}

{{/* The common part of a ServiceMonitor and a PodMonitor, without the endpoint; takes the monitor's values and the chart's context. */}}
{{- define "bunnynet-exporter.monitorSpec" -}}
{{- $namespace := include "bunnynet-exporter.namespace" .root }}
{{- with .monitor.jobLabel }}
jobLabel: {{ . }}
{{- end }}
{{- with .monitor.scrapeProtocols }}
scrapeProtocols:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.sampleLimit }}
sampleLimit: {{ int . }}
{{- end }}
{{- if ne (.monitor.namespace | default $namespace) $namespace }}
namespaceSelector:
  matchNames: [{{ $namespace }}]
{{- end }}
{{- end }}

{{/* The endpoint of a ServiceMonitor or PodMonitor; takes the monitor's values and the chart's context. */}}
{{- define "bunnynet-exporter.endpoint" -}}
port: http
path: {{ .root.Values.web.telemetryPath }}
{{- if .monitor.honorLabels }}
honorLabels: true
{{- end }}
{{- if include "bunnynet-exporter.tls" .root }}
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
