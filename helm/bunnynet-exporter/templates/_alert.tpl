{{/*
An alert of the project's rules, as the values set it; in JSON. In its texts [[for]] and the names of its thresholds stand
for what is set; one that fires at once says nothing of how long it has waited. `defaults` applies where the values set nothing,
and `excluded` is what exclusions are taken from. Sprig's `merge` cannot be used: it takes 0 and "" for not set.
*/}}
{{- define "bunnynet-exporter.alert" -}}
{{- $settings := .root.Values.prometheusRule }}
{{- $own := index $settings.alerts .rule.alert | default dict }}
{{- $for := $own.for | default .rule.defaults.for }}
{{- $keepFiringFor := ternary $own.keepFiringFor .rule.defaults.keepFiringFor (hasKey $own "keepFiringFor") }}
{{- $thresholds := dict }}
{{- range $source := list (.rule.defaults.thresholds | default dict) ($own.thresholds | default dict) }}
{{- range $name, $number := $source }}
{{- $_ := set $thresholds $name $number }}
{{- end }}
{{- end }}
{{- $rule := omit .rule "excluded" "defaults" }}
{{- $matchers := list }}
{{- range $label, $ids := $own.exclude }}
{{- $matchers = append $matchers (printf "%s=~%q" $label (join "|" $ids | replace "." "[.]")) }}
{{- end }}
{{- if $matchers }}
{{- $_ := set $rule "expr" (printf "(\n%s\n) unless %s{%s}\n" (.rule.expr | trim | indent 2) .rule.excluded (join "," $matchers)) }}
{{- end }}
{{- $text := toJson $rule }}
{{- if not (regexMatch "[1-9]" $for) }}
{{- $text = regexReplaceAll " for \\[\\[for\\]\\]( or more)?" $text "" }}
{{- end }}
{{- $text = $text | replace "[[for]]" $for | replace "[[namespace]]" (include "bunnynet-exporter.namespace" .root) }}
{{- range $name, $number := $thresholds }}
{{- $text = replace (printf "[[%s]]" $name) (toJson $number) $text }}
{{- end }}
{{- $rule = fromJson $text }}
{{- $_ := set $rule "for" $for }}
{{- with $keepFiringFor }}
{{- $_ := set $rule "keep_firing_for" . }}
{{- end }}
{{- with .root.Values.alerts.runbookUrl }}
{{- $_ := set $rule.annotations "runbook_url" (replace "{alert}" $rule.alert .) }}
{{- end }}
{{- $labels := merge (dict) ($own.labels | default dict) $settings.alertLabels }}
{{- range $label, $_ := $labels }}
{{- if or (eq $label "account") (regexMatch (printf "\\b(by|on) \\([^)]*\\b%s\\b" $label) $rule.expr) }}
{{- fail (printf "prometheusRule: the label %s cannot be added to %s: its expression goes by it" $label $rule.alert) }}
{{- end }}
{{- end }}
{{- $_ := set $rule "labels" (merge $labels $rule.labels) }}
{{- $_ := set $rule "annotations" (merge (dict) ($own.annotations | default dict) $settings.alertAnnotations $rule.annotations) }}
{{- toJson $rule }}
{{- end }}
