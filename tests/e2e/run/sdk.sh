#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# otelctx-run --sdk: the variables that load the bridges, beside what is in them.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"
unset PYTHONPATH NODE_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS

# tree DIRECTORY: what `demo/sdk/install DIRECTORY` would leave, without contents.
tree() {
    mkdir -p "$1/python/otelctx_opentelemetry" "$1/node/node_modules/koffi" "$1/java"
    touch "$1/node/register.js" "$1/java/otelctx.jar"
}
# run OPTION... COMMAND...: with the library of this build.
run() {
    "$RUN" --library "$SHIM" "$@"
}
# variables [OPTION...]: of a command, those that bridges need, and what is said.
variables() {
    run "${@:2}" env 2>&1 |
        grep -E '^(PYTHONPATH|NODE_OPTIONS|OTEL_(PYTHON|JAVAAGENT)_.*|_?J(AVA|DK)_.*)=|^otelctx-run' | sort
}
# with NAMES [OPTION...]: with the bridges of this tree.
with() {
    variables "" --sdk="$1" --sdk-path="$TMP/sdk" "${@:2}"
}
# said COMMAND...: what it prints anywhere, and its status.
said() {
    local status=0

    "$@" 2>&1 || status=$?
    echo "exit $status"
}
tree sdk
S=$TMP/sdk

# ---- each runtime -----------------------------------------------------------

same 'without the option nothing is set' '' "$(variables "")"
same 'python gets its path and the name of the context' \
    "OTEL_PYTHON_CONTEXT=otelctx PYTHONPATH=$S/python" "$(with python | xargs)"
same 'node gets a module to require' "NODE_OPTIONS=--require $S/node/register.js" \
    "$(with node)"
same 'java gets an extension of the agent, in a variable that no JVM prints' \
    "OTEL_JAVAAGENT_EXTENSIONS=$S/java/otelctx.jar" "$(with java)"
ALL="NODE_OPTIONS=--require $S/node/register.js
OTEL_JAVAAGENT_EXTENSIONS=$S/java/otelctx.jar
OTEL_PYTHON_CONTEXT=otelctx
PYTHONPATH=$S/python"
same 'several runtimes are a list' "$ALL" "$(with 'python, node,,java')"
same 'or several options' "$ALL" "$(with python --sdk node --sdk=java)"
same 'and all of them have a word' "$ALL" "$(with all)"
same 'a run within a run adds nothing' "$ALL" \
    "$(again=(--sdk=all --sdk-path="$S") && run "${again[@]}" bash -c '"$@"' - \
        "$RUN" --library "$SHIM" "${again[@]}" env |
        grep -E '^(PYTHONPATH|NODE_OPTIONS|OTEL_(PYTHON|JAVAAGENT)_.*)=' | sort)"
same 'a variable that is empty counts as unset' "$ALL" \
    "$(PYTHONPATH='' NODE_OPTIONS='' OTEL_JAVAAGENT_EXTENSIONS='' OTEL_PYTHON_CONTEXT='' with all)"

# ---- what is there stays ----------------------------------------------------

same 'the bridge comes first on the path of python, once, and empty entries stay' \
    "PYTHONPATH=$S/python:/a::$S/python/x:" \
    "$(PYTHONPATH="/a::$S/python:$S/python/x:" with python | grep PATH)"
# As many as one variable can hold.
many=$(printf 'a:%.0s' {1..50000})
same 'a path of many entries takes little memory' "$(cksum <<<"PYTHONPATH=$S/python:$many")" \
    "$(ulimit -v 500000 && PYTHONPATH=$many run --sdk=python --sdk-path="$S" env | grep ^PYTHONPATH= | cksum)"
same 'another context of python stays, and a line says so' \
    'OTEL_PYTHON_CONTEXT=contextvars_context
PYTHONPATH=/a
otelctx-run: warn: without a bridge: python: OTEL_PYTHON_CONTEXT=contextvars_context stays (unset it, or set it to otelctx)' \
    "$(PYTHONPATH=/a OTEL_PYTHON_CONTEXT=contextvars_context with python)"
same 'options of node stay in front' \
    "NODE_OPTIONS=--require \"/my agent.js\" --no-warnings --require $S/node/register.js" \
    "$(NODE_OPTIONS='--require "/my agent.js" --no-warnings' with node)"
same 'a module that is required under another option is not required twice' \
    "NODE_OPTIONS=-r $S/node/register.js --no-warnings" \
    "$(NODE_OPTIONS="-r $S/node/register.js --no-warnings" with node)"
same 'a longer path is another module' \
    "NODE_OPTIONS=-r /x$S/node/register.js -r $S/node/register.json --require $S/node/register.js" \
    "$(NODE_OPTIONS="-r /x$S/node/register.js -r $S/node/register.json" with node)"
same 'other extensions of the agent stay' \
    "OTEL_JAVAAGENT_EXTENSIONS=/a.jar,/b,$S/java/otelctx.jar" \
    "$(OTEL_JAVAAGENT_EXTENSIONS=/a.jar,/b with java)"
same 'options of the JVM stay as they are' "JAVA_TOOL_OPTIONS=-javaagent:/agent.jar -Xmx1g
OTEL_JAVAAGENT_EXTENSIONS=$S/java/otelctx.jar" \
    "$(JAVA_TOOL_OPTIONS='-javaagent:/agent.jar -Xmx1g' with java)"

# property NAME TEXT: the variable afterwards, with JAR for the bridge.
property() {
    env "$1=$2" OTEL_JAVAAGENT_EXTENSIONS="$S/java/otelctx.jar" \
        "$RUN" --library "$SHIM" --sdk=java --sdk-path="$S" env |
        sed -n "s|^$1=||p" | sed "s|$S/java/otelctx.jar|JAR|g"
}
P=-Dotel.javaagent.extensions
same 'a property, which counts before the variable, gets the extension, too' \
    "-Xmx1g $P=/a.jar,JAR -Dx=y" "$(property JAVA_TOOL_OPTIONS "-Xmx1g $P=/a.jar -Dx=y")"
for name in JDK_JAVA_OPTIONS _JAVA_OPTIONS; do
    same "so does one in $name" "$P=/a.jar,JAR" "$(property $name "$P=/a.jar")"
done
same 'of several properties the last' "$P=/a.jar $P=/b.jar,JAR" \
    "$(property JAVA_TOOL_OPTIONS "$P=/a.jar $P=/b.jar")"
same 'an empty one' "$P=JAR -Dx" "$(property JAVA_TOOL_OPTIONS "$P= -Dx")"
same 'one with a quoted path' "$P='/my dir/a.jar',JAR -Dx" \
    "$(property JAVA_TOOL_OPTIONS "$P='/my dir/a.jar' -Dx")"
same 'one that is quoted as a whole' "\"$P=/my dir/a.jar\",JAR -Dx" \
    "$(property JAVA_TOOL_OPTIONS "\"$P=/my dir/a.jar\" -Dx")"
same 'one of which only the name is quoted' "-D\"${P#-D}\"=/a.jar,JAR" \
    "$(property JAVA_TOOL_OPTIONS "-D\"${P#-D}\"=/a.jar")"
same 'or all but the first letters' "-D'${P#-D}=/my dir/a.jar',JAR" \
    "$(property JAVA_TOOL_OPTIONS "-D'${P#-D}=/my dir/a.jar'")"
same 'but not one within another option' "'-Dx= $P=/a.jar'" \
    "$(property JAVA_TOOL_OPTIONS "'-Dx= $P=/a.jar'")"
same 'and not twice' "$P=$S/java/otelctx.jar,/a.jar" \
    "$(property JAVA_TOOL_OPTIONS "$P=$S/java/otelctx.jar,/a.jar" | sed "s|JAR|$S/java/otelctx.jar|")"

# ---- where the bridges are --------------------------------------------------

mkdir bin beside
cp "$RUN" bin/otelctx-run
cp "$RUN" beside/otelctx-run
tree share/otelctx/sdk
tree beside/sdk
found() { # DIRECTORY
    "$1/otelctx-run" --library "$SHIM" --sdk=node env | sed -n 's/^NODE_OPTIONS=--require //p'
}
same 'in share beside bin' "$TMP/bin/../share/otelctx/sdk/node/register.js" "$(found bin)"
same 'or in sdk beside the program' "$TMP/beside/sdk/node/register.js" "$(found beside)"
tree bin/sdk
same 'which comes first' "$TMP/bin/sdk/node/register.js" "$(found bin)"
same 'a relative path becomes absolute' "$TMP/sdk/node/register.js" \
    "$(run --sdk=node --sdk-path sdk env | sed -n 's/^NODE_OPTIONS=--require //p')"

# In double quotes, where a backslash escapes.
tree 'my "own" \sdk'
same 'node gets a path with blanks in its quotes' \
    "NODE_OPTIONS=--require \"$TMP/my \\\"own\\\" \\\\sdk/node/register.js\"" \
    "$(variables "" --sdk=node --sdk-path 'my "own" \sdk')"
tree "o'my sdk"
same 'and so does the JVM' "JAVA_TOOL_OPTIONS=$P=/a,\"$TMP/o'my sdk/java/otelctx.jar\" -Dx" \
    "$(JAVA_TOOL_OPTIONS="$P=/a -Dx" variables "" --sdk=java --sdk-path "o'my sdk" | grep TOOL)"
tree a:b,c
same 'a path that no variable can have is left out' \
    "NODE_OPTIONS=--require $TMP/a:b,c/node/register.js
otelctx-run: warn: without a bridge: java: $TMP/a:b,c/java/otelctx.jar: no variable can have this path (use another directory)
otelctx-run: warn: without a bridge: python: $TMP/a:b,c/python: no variable can have this path (use another directory)" \
    "$(variables "" --sdk=all --sdk-path a:b,c)"

# ---- what fails -------------------------------------------------------------

rm sdk/node/register.js
LACK="node: $S/node/register.js: No such file or directory"
MAKE='(demo/sdk/install makes it; --sdk-path names its directory)'
same 'a bridge that is not there is left out, and a line names its path' \
    "OTEL_PYTHON_CONTEXT=otelctx
PYTHONPATH=$S/python
otelctx-run: warn: without a bridge: $LACK $MAKE" "$(with python,node)"
same 'the command runs' "otelctx-run: warn: without a bridge: $LACK $MAKE
exit 3" "$(said run --sdk=node --sdk-path="$S" sh -c 'exit 3')"
same 'no line with --quiet' 'exit 3' \
    "$(said run --quiet --sdk=node --sdk-path="$S" sh -c 'exit 3')"
same 'nor at the log level error' 'exit 3' \
    "$(OTELCTX_LOG_LEVEL=error said run --sdk=node --sdk-path="$S" sh -c 'exit 3')"
same '--strict does not run it' "otelctx-run: --sdk: $LACK
exit 125" "$(said run --strict --sdk=node --sdk-path="$S" sh -c 'exit 3')"
for list in ruby python,ruby; do
    same "--sdk=$list names the runtime that it does not know" \
        "otelctx-run: --sdk=$list: expected python, node, java or all, not ruby
otelctx-run: --help shows how it is used
exit 125" "$(said run --sdk=$list true)"
done
same 'an empty list is none' 'otelctx-run: --sdk=, : expected python, node, java or all
otelctx-run: --help shows how it is used
exit 125' "$(said run '--sdk=, ' true)"
mkdir -p sources_only/python/otelctx_opentelemetry sources_only/node
touch sources_only/node/register.js sources_only/python/pyproject.toml
same 'sources are no bridges' "otelctx-run: warn: without a bridge: node: $TMP/sources_only/node/register.js: not installed $MAKE
otelctx-run: warn: without a bridge: python: $TMP/sources_only/python: not installed $MAKE" \
    "$(variables "" --sdk=python,node --sdk-path sources_only)"
same '--sdk-path goes with --sdk only' 'otelctx-run: --sdk-path: it goes with --sdk only
otelctx-run: --help shows how it is used
exit 125' "$(said run --sdk-path="$S" true)"
same 'and is a directory' 'otelctx-run: --sdk-path=: expected a directory
otelctx-run: --help shows how it is used
exit 125' "$(said run --sdk=node --sdk-path= true)"
cc -static -o static_program -x c - <<<'#include <stdlib.h>
int main(void) { return getenv("PYTHONPATH") ? 1 : 3; }'
same 'where the library cannot be loaded, no bridge is' 'exit 3' \
    "$(said run --quiet --sdk=python --sdk-path="$S" ./static_program)"

# ---- print and check --------------------------------------------------------

same '--print shows the variables' "export OTEL_PYTHON_CONTEXT='otelctx'
export PYTHONPATH='$S/python:/a'" \
    "$(PYTHONPATH=/a run --print --sdk=python --sdk-path="$S" | grep PYTHON | sort)"
same 'and why the command has none' \
    "otelctx-run: warn: without a context: ./static_program is static: no dynamic linker loads a library (link the program dynamically; build Go with cgo)
exit 0" "$(said run --print ./static_program)"
checked() {
    run --check --sdk="$1" --sdk-path="$S" true | grep -A 1 ' sdk ' | tr -s ' '
}
same '--check lists the bridges' " ok sdk python, java: in $S" "$(checked python,java)"
same 'and says which one is not there' " FAILED sdk $LACK" "$(checked all | head -n 1)"
check 'its status is 1 then' not run --check --sdk=node --sdk-path="$S" true
check 'and 0 otherwise' run --check --sdk=java --sdk-path="$S" true
same 'without the option there is no such line' 0 "$(run --check true | grep -c ' sdk ' || :)"

# ---- install ----------------------------------------------------------------

# Package managers that leave the files by which a bridge is found, and a source for each of them.
mkdir -p sources/python/x.egg-info sources/node/node_modules sources/java/target fake
cp "$ROOT/demo/sdk/install" sources
touch sources/python/pyproject.toml sources/node/register.js sources/java/pom.xml
cat >fake/python <<'END'
#!/bin/sh
[ "$3" != --version ] || exit 0
while [ "$1" != --target ]; do
    [ "$1" != --no-deps ] || own=1
    shift
done
mkdir -p "$2/otelctx_opentelemetry" && ls -A "$3" >"$2/built${own-with_deps}"
END
cat >fake/npm <<'END'
#!/bin/sh
[ ! -e fail ] || { echo why && exit 1; }
mkdir -p node_modules/koffi && echo "$*" >node_modules/how
END
cat >fake/mvn <<'END'
#!/bin/sh
mkdir "${4%/*}/target" && echo "$*" >"${4%/*}/target/otelctx.jar"
END
chmod +x fake/*
# listed DIRECTORY: what is in it.
listed() {
    find "$1" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs
}
install() {
    PYTHON="$TMP/fake/python" PATH="$TMP/fake:$PATH" sources/install "$@"
}
same 'install makes the directory of all three' "$TMP/made/python
$TMP/made/node
$TMP/made/java" "$(install made 2>made.err)"
same 'for --sdk to find' "NODE_OPTIONS=--require $TMP/made/node/register.js
OTEL_JAVAAGENT_EXTENSIONS=$TMP/made/java/otelctx.jar
OTEL_PYTHON_CONTEXT=otelctx
PYTHONPATH=$TMP/made/python" "$(variables "" --sdk=all --sdk-path=made)"
same 'python without other packages, which would hide those of the program' \
    'made/python/built1:pyproject.toml' "$(grep -H . made/python/built*)"
contains 'and says that it is slower, where nothing was compiled' 'ctypes makes the calls' "$(<made.err)"
contains 'node without what only developers need' ' --omit=dev ' "$(<made/node/node_modules/how)"
same 'nothing is left beside' 'java node python' "$(listed made)"
same 'nor in the sources' 'install java node python' "$(listed sources)"
touch sources/node/fail made/node/old
same 'a build that fails ends it, and says why' 'why
install: node: the build failed
exit 1' "$(said install made node)"
same 'and leaves what was there' 'java node python old' "$(listed made) $(basename made/node/o*)"
rm sources/node/fail
check 'it replaces what was there' install made node
same 'as a whole' 'node_modules register.js' "$(listed made/node)"
same 'not into the sources, which it would replace' "install: $TMP/sources: these are the sources
exit 1" "$(said install sources python)"
same 'which stay' 'install java node python pyproject.toml' "$(listed sources) $(basename sources/python/p*)"
same 'CDPATH does not count' "$TMP/made/java" "$(CDPATH=$TMP install made java)"
same 'a runtime that it does not know' 'install: ruby: expected python, node or java
usage: install DIRECTORY [python] [node] [java]
exit 2' "$(said install new python ruby)"
same 'no directory' 'usage: install DIRECTORY [python] [node] [java]
exit 2' "$(said install)"
# nothing else on the PATH
mkdir few
ln -s "$(command -v dirname)" few
for lack in \
    "python: there is no $TMP/few/python" \
    'node: there is no npm (Debian: npm)' 'java: there is no mvn (Debian: maven)'; do
    same "without its tool, ${lack%%:*} is refused" "install: $lack
exit 1" "$(said env PYTHON="$TMP/few/python" PATH="$TMP/few" /bin/sh sources/install new "${lack%%:*}")"
done
same 'so is a Python without pip' 'install: python: false has no pip (Debian: python3-pip; or set PYTHON)
exit 1' "$(said env PYTHON=false sources/install new python)"
same 'a runtime in place of the directory is refused' \
    'install: python: the directory comes first (./python, if it is one)
exit 1' "$(said install python)"
check 'before anything is made' [ ! -e new ]
done_testing
