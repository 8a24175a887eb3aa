# SPDX-License-Identifier: Apache-2.0
#
# What readers print that have attributes as OTLP's JSON has them, in the form of
# otelctx-verdict(5): otelctx-read --json --threads, and protojson's text of a
# ProcessContext.

def value:
    def pairs: map({(.key): (.value // {} | value)}) | add // {};
    if has("stringValue") then .stringValue
    elif has("boolValue") then .boolValue
    elif has("intValue") then .intValue | tonumber
    elif has("doubleValue") then .doubleValue
    elif has("bytesValue") then {bytes: .bytesValue}
    elif has("arrayValue") then .arrayValue.values // [] | map(value)
    elif has("kvlistValue") then .kvlistValue.values // [] | pairs
    else null end;
def pairs: (. // []) | map({(.key // ""): (.value // {} | value)}) | add // {};

def thread:
    {tid}
    + if .status == "attached" or .status == "malformed" then
        {answer: "context", trace_id, span_id, trace_flags,
         attributes: (.attributes | pairs)}
      else {answer: "none"} end;

if (.status // "ok") != "ok" then {answer: "none"}
else
    (.contexts // [.])[0]
    | {answer: "context", resource: (.resource.attributes | pairs),
       extra: (.extra_attributes // .attributes | pairs)}
end
+ if has("status") then
    {threads: (.threads // [] | map(thread)),
     ring: (.threads // [] | map(select(.ring) | {tid} + (.ring
        | if .status == "attached" then {answer: "context", trace_id, span_id}
          else {answer: "none"} end)))}
  else {} end
