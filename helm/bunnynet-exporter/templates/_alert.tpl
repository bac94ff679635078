{{/*
An alert of the project's rules, as the values set it; in JSON. In its texts [[for]] and the names of its thresholds stand
for what is set; `excluded` is what exclusions are taken from.
*/}}
{{- define "bunnynet-exporter.alert" -}}
{{- $settings := .root.Values.prometheusRule }}
{{- $own := index $settings.alerts .rule.alert }}
{{- $rule := omit .rule "excluded" }}
{{- $matchers := list }}
{{- range $label, $ids := $own.exclude }}
{{- $matchers = append $matchers (printf "%s=~%q" $label (join "|" $ids | replace "." "[.]")) }}
{{- end }}
{{- if $matchers }}
{{- $_ := set $rule "expr" (printf "(\n%s\n) unless %s{%s}\n" (.rule.expr | trim | indent 2) .rule.excluded (join "," $matchers)) }}
{{- end }}
{{- $text := toJson $rule | replace "[[for]]" $own.for | replace "[[keepFiringFor]]" $own.keepFiringFor }}
{{- $text = $text | replace "[[namespace]]" (include "bunnynet-exporter.namespace" .root) }}
{{- range $name, $number := $own.thresholds }}
{{- $text = replace (printf "[[%s]]" $name) (toJson $number) $text }}
{{- end }}
{{- $rule = fromJson $text }}
{{- if not $own.keepFiringFor }}
{{- $rule = omit $rule "keep_firing_for" }}
{{- end }}
{{- $labels := merge (dict) ($own.labels | default dict) $settings.alertLabels }}
{{- range $label, $_ := $labels }}
{{- if regexMatch (printf "\\b(by|on) \\([^)]*\\b%s\\b" $label) $rule.expr }}
{{- fail (printf "prometheusRule: the label %s cannot be added to %s: its expression goes by it" $label $rule.alert) }}
{{- end }}
{{- end }}
{{- $_ := set $rule "labels" (merge $labels $rule.labels) }}
{{- $_ := set $rule "annotations" (merge (dict) ($own.annotations | default dict) $settings.alertAnnotations $rule.annotations) }}
{{- toJson $rule }}
{{- end }}
