#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# OTEL_ENTITIES: the rules and the examples of the OpenTelemetry specification,
# "Entity Propagation". The published proto files decode what is in memory.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# refs: the entity_refs of $PID, one per line, as type{id keys}[other keys]@URL.
refs() {
    protoc_says | awk -F'"' '
        function show() { print type "{" ids "}" (others ? "[" others "]" : "") url }
        /entity_refs/ {if (type) show(); type = ids = others = url = ""}
        /^    schema_url:/ {url = "@" $2}
        /^    type:/ {type = $2}
        /^    id_keys:/ {ids = ids (ids ? "," : "") $2}
        /^    description_keys:/ {others = others (others ? "," : "") $2}
        END {if (type) show()}'
}
# attributes: the attributes of the resource, sorted, in one line.
attributes() {
    resource "$PID" | sort | paste -sd ' '
}
# with [NAME=VALUE]...: what a process with these variables publishes, without the
# default service.name.
with() {
    drive OTELCTX_LOG_LEVEL=warn "$@"
    attributes | sed 's/ *service.name=unknown_service:driver//'
    refs
    stop
}
entities() {
    with OTEL_ENTITIES="$1"
}
told() {
    sed 's/^otelctx\[[0-9]*\]: //' "$TMP/stderr"
}
skipped='; this entity is skipped'

# The examples.
same 'a single service entity' \
    'service.instance.id=instance-1 service.name=my-app service.version=1.0.0
service{service.name,service.instance.id}[service.version]' \
    "$(entities 'service{service.name=my-app,service.instance.id=instance-1}[service.version=1.0.0]')"
same 'several entities, and a schema URL' \
    'host.id=host-123 host.name=web-server-01 service.instance.id=instance-1 service.name=my-app service.version=1.0.0
service{service.name,service.instance.id}[service.version]@https://opentelemetry.io/schemas/1.21.0
host{host.id}[host.name]' \
    "$(entities 'service{service.name=my-app,service.instance.id=instance-1}[service.version=1.0.0]@https://opentelemetry.io/schemas/1.21.0;host{host.id=host-123}[host.name=web-server-01]')"
same 'a pod of Kubernetes' \
    'k8s.pod.label.app=my-app k8s.pod.name=my-pod k8s.pod.uid=pod-abc123
k8s.pod{k8s.pod.uid}[k8s.pod.name,k8s.pod.label.app]' \
    "$(entities 'k8s.pod{k8s.pod.uid=pod-abc123}[k8s.pod.name=my-pod,k8s.pod.label.app=my-app]')"
same 'a container and its host' \
    'container.id=cont-456 host.id=host-789 host.name=docker-host
container{container.id}
host{host.id}[host.name]' \
    "$(entities 'container{container.id=cont-456};host{host.id=host-789}[host.name=docker-host]')"
same 'only what an entity must have' \
    $'service.name=minimal-app\nservice{service.name}' \
    "$(entities 'service{service.name=minimal-app}')"
same 'empty entities are ignored' \
    $'host.id=host-123 service.name=app1\nservice{service.name}\nhost{host.id}' \
    "$(entities ';service{service.name=app1};;host{host.id=host-123};')"
same 'for correct entities nothing is printed' '' "$(told)"
same 'reserved characters are percent-encoded' \
    'config=key=value[prod] service.instance.id=inst-1 service.name=my,app
service{service.name,service.instance.id}[config]' \
    "$(entities 'service{service.name=my%2Capp,service.instance.id=inst-1}[config=key%3Dvalue%5Bprod%5D]')"
same 'all reserved characters, and others than ASCII, are percent-encoded' \
    $'a={}[]@;,=\u00e9 b=\nt{a,b}' \
    "$(entities 't{a=%7B%7D%5B%5D%40%3B%2C%3D%C3%a9,b=}')"

# "Error Handling". Of entities that contradict each other the last one counts.
same 'invalid syntax: the malformed part is skipped, the others count' \
    $'host.id=1 service.name=app1\nservice{service.name}\nhost{host.id}' \
    "$(entities 'service{service.name=app1};invalid{syntax;host{host.id=1}')"
same 'invalid syntax is one error' \
    "error: OTEL_ENTITIES: byte 42: \";host{host.id=1}\": expected '=' after the name$skipped" \
    "$(told)"
# The specification's example has a second service, which counts by the fifth rule.
same "invalid syntax: the specification's example" \
    $'service.name=app2\nservice{service.name}' \
    "$(entities 'service{service.name=app1};invalid{syntax;service{service.name=app2}')"
same 'missing required fields: an entity without an identity is skipped' \
    $'host.id=123\nhost{host.id}' "$(entities 'service{};host{host.id=123}')"
same 'missing required fields are one error' \
    "error: OTEL_ENTITIES: byte 9: \"};host{host.id=123}\": expected a name, which begins with a letter$skipped" \
    "$(told)"
same 'duplicate entities: the last one counts' \
    $'service.name=app1 version=2.0\nservice{service.name}[version]' \
    "$(entities 'service{service.name=app1}[version=1.0];service{service.name=app1}[version=2.0]')"
same 'duplicate entities are a warning' \
    'warn: OTEL_ENTITIES: byte 1: "service{service.name=app1}[version=1.0];service{service.name=app1}[version=2.0]": expected no later entity of this type and identity' \
    "$(told)"
same 'duplicate entities: the order of attributes does not matter' \
    $'a=1 b=2 c=3\nt{b,a}[c]' "$(entities 't{a=1,b=2}[d=4];t{b=2,a=1}[c=3]')"
same 'an entity with more identifying attributes is no duplicate' \
    $'a=1 b=2\nt{a}\nt{a,b}' "$(entities 't{a=1};t{a=1,b=2}')"
same 'an entity of another type is no duplicate' $'a=1\nt{a}\nu{a}' "$(entities 't{a=1};u{a=1}')"
same 'an invalid schema URL is ignored, the entity counts' \
    $'service.name=app1\nservice{service.name}' \
    "$(entities 'service{service.name=app1}@invalid-url')"
same 'an invalid schema URL is a warning' \
    'warn: OTEL_ENTITIES: byte 28: "invalid-url": expected a URI' "$(told)"
same 'conflicting identifying attributes: the last entity counts' \
    $'service.name=app2\nservice{service.name}' \
    "$(entities 'service{service.name=app1};service{service.name=app2}')"
same 'conflicting identifying attributes are a warning with the attribute' \
    'warn: OTEL_ENTITIES: byte 9: "service.name=app1};service{service.name=app2}": expected the value of a later entity' \
    "$(told)"
# The specification's example of the sixth rule breaks the fifth one: a resource
# has only one service.name.
same "conflicting descriptive attributes: the specification's example" \
    $'service.name=app2 version=2.0\nservice{service.name}[version]' \
    "$(entities 'service{service.name=app1}[version=1.0];service{service.name=app2}[version=2.0]')"
same 'conflicting descriptive attributes: only the last entity has them' \
    $'host.id=1 region=eu service.name=app zone=b\nservice{service.name}[region]\nhost{host.id}[zone]' \
    "$(entities 'service{service.name=app}[zone=a,region=eu];host{host.id=1}[zone=b]')"
same 'conflicting descriptive attributes are a warning' \
    'warn: OTEL_ENTITIES: byte 27: "zone=a,region=eu];host{host.id=1}[zone=b]": expected the value of a later entity' \
    "$(told)"
same 'an attribute with one value may belong to several entities' \
    $'a=1 b=2 z=3\nt{a}[z]\nu{b}[z]' "$(entities 't{a=1}[z=3];u{b=2}[z=3]')"
same 'an identifying attribute conflicts with a later descriptive one' \
    $'a=2 b=1\nu{b}[a]' "$(entities 't{a=1};u{b=1}[a=2]')"

# Malformed entities, with the byte and what the shim expected there.
malformed() {
    same "malformed: $1" "
error: OTEL_ENTITIES: byte $2: \"${1:$2-1}\": expected $3$skipped" \
        "$(entities "$1" | head -n 1; told)"
}
NAME='a name, which begins with a letter'
malformed '1st{a=1}' 1 "$NAME"
malformed '{a=1}' 1 "$NAME"
malformed 'a b{a=1}' 2 "'{' after the type"
malformed 't' 2 "'{' after the type"
malformed 't[a=1]' 2 "'{' after the type"
malformed 't{' 3 "$NAME"
malformed 't{=1}' 3 "$NAME"
malformed 't{a=1,}' 7 "$NAME"
malformed 't{a}' 4 "'=' after the name"
malformed 't{a=1' 6 "',' or '}'"
malformed 't{a=1=2}' 6 "',' or '}'"
malformed 't{a=1]' 6 "',' or '}'"
malformed 't{a=1}[b=2' 11 "',' or ']'"
malformed 't{a=1}[]' 8 "$NAME"
malformed 't{a=1}x' 7 "'[', '@' or ';'"
malformed 't{a=1}[b=2]{c=3}' 12 "'[', '@' or ';'"
malformed 't{a=1,a=2}' 7 'a name that this entity does not have yet'
malformed 't{a=1}[a=1]' 8 'a name that this entity does not have yet'
malformed 't{a=1,b=%4}' 9 "two hexadecimal digits after '%'"
malformed 't{a=1,b=%00}' 9 'no NUL character'
malformed 't{a=1}[b=%ff]' 10 'valid UTF-8'
malformed 't{threadlocal.x=1}' 3 'a key that does not begin with "threadlocal."'
same 'no attribute of a skipped entity is published' \
    $'host.id=1\nhost{host.id}' "$(entities 't{a=1}[b=%4];host{host.id=1}')"

# Beside the other variables.
same 'attributes and the service name override single attributes' \
    'a=user b=entity service.name=named
service{service.name}
t{a}[b]' "$(with OTEL_ENTITIES='service{service.name=entity};t{a=entity}[b=entity]' \
        OTEL_RESOURCE_ATTRIBUTES=a=user,service.name=user OTEL_SERVICE_NAME=named)"
same 'malformed attributes do not change the entities' \
    $'a=entity\nt{a}' \
    "$(with OTEL_ENTITIES='t{a=entity}' OTEL_RESOURCE_ATTRIBUTES=a=user,b)"
same 'with the service.name of an entity there is no default one' \
    $'service.name=app\nservice{service.name}' \
    "$(entities 'service{service.name=app}')"
same 'with the service.instance.id of an entity none is generated' \
    $'service.instance.id=mine\nservice.instance{service.instance.id}' \
    "$(with OTELCTX_INSTANCE_ID=generate \
        OTEL_ENTITIES='service.instance{service.instance.id=mine}')"
same 'OTELCTX_PUBLISH=configured with an entity publishes' $'a=1\nt{a}' \
    "$(with OTELCTX_PUBLISH=configured OTEL_ENTITIES='t{a=1}')"
echo "OTEL_ENTITIES=t{a=file}" >"$TMP/conf"
same 'the configuration file may set OTEL_ENTITIES' $'a=file\nt{a}' \
    "$(with OTELCTX_CONFIG_FILE="$TMP/conf")"

# Updates and forks keep the entities.
drive OTEL_ENTITIES='t{a=1}[b=2]@x:y' OTELCTX_EXTRA_ATTRIBUTES=e=1
same 'an update keeps entities, and may change their attributes' \
    '0 0 0 0 a=1 b=new c=3 t{a}[b]@x:y e=2' \
    "$(call set b new) $(call set c 3) $(call extra e 2) $(call publish) $(
        attributes | sed 's/ service.name=.*//') $(refs) $(extra "$PID")"
same 'an update cannot remove attributes of entities' '-1 -1 0 0 a=1 b=new t{a}[b]@x:y' \
    "$(call set a) $(call set b) $(call set c) $(call publish) $(
        attributes | sed 's/ service.name=.*//') $(refs)"
PID=$(call fork)
same 'a forked child has the entities' 't{a}[b]@x:y' "$(refs)"
exec {calls}>&- {results}<&-

# Of any size.
long() { head -c "$1" /dev/zero | tr '\0' x; }
same 'an entity that does not fit is skipped, the others count' \
    't{a}' "$(with OTEL_ENTITIES="u{b=$(long 65500)};t{a=1}" | tail -n 1)"
contains 'an entity that does not fit is told' \
    'expected a payload of at most 65536 bytes; this entity is skipped' "$(told)"
same 'a long entity fits' 'u{b}' \
    "$(with OTEL_ENTITIES="u{b=$(long 60000)}" | tail -n 1)"

# However many there are: one line, and no work for those that do not count.
# repeated TEXT NUMBER
repeated() { yes "$1" | head -n "$2" | tr -d '\n'; }
entities "$(repeated 'x;' 65000)" >/dev/null
same '65,000 malformed entities are one line' \
    "error: OTEL_ENTITIES: byte 2: expected '{' after the type$skipped (and 64999 more)" \
    "$(told | sed 's/: ".*": /: /')"
numbered() { seq "$1" | sed 's/.*/t&{a&=1};/' | tr -d '\n'; }
same 'of 8,000 entities the last 64 count' '64 from t7937{a7937} to t8000{a8000}' \
    "$(entities "$(numbered 8000)" | sed 1d |
        awk 'NR == 1 {first = $0} END {print NR, "from", first, "to", $0}')"
same 'the others are one line' \
    "error: OTEL_ENTITIES: byte $(numbered 7935 | wc -c | awk '{print $1 + 1}'): expected at most 64 entities, of which the last count$skipped" \
    "$(told | sed 's/: ".*": /: /')"
same 'an entity has at most 64 attributes' \
    "$(printf 't{%s}\n%s' a1 'error: OTEL_ENTITIES: expected at most 64 attributes of an entity')" \
    "$(entities "u{$(seq -f 'b%g=1' -s , 65)};t{a1=1}" | tail -n 1
        told | sed "s/byte .*: expected/expected/; s/$skipped//")"
garbage() {
    timeout 120 env LD_PRELOAD="$SHIM" OTELCTX_LOG_LEVEL=none \
        OTEL_ENTITIES="$1" /bin/true
}
check '9000 entities take little time' garbage "$(seq -f 't%g{a=1};' -s '' 9000)"
check 'an entity of 6000 attributes takes little time' garbage \
    "t{$(seq -f 'k%g=' -s, 6000)}"
check '120 KB of braces take little time' garbage "$(long 120000 | tr x '{')"
check '120 KB of semicolons take little time' garbage "$(long 120000 | tr x ';')"

done_testing
