# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced, after common.sh or with ROOT and BUILD set: builds the bridge and the programs that run with it, with Maven's
# repository in the folder of the build.

# shellcheck disable=SC2034 # java_bridge is for those who source this
java_built=$BUILD/sdk/java
java_bridge=$java_built/bridge/otelctx.jar

# java_package FOLDER TARGET [-DNAME=VALUE]...
java_package() {
    mvn --batch-mode --quiet --file "$1" "-Dmaven.repo.local=$BUILD/m2" \
        "-Dotelctx.target=$java_built/$2" "${@:3}" package
}
build_java_bridge() {
    java_package "$ROOT/demo/sdk/java" bridge
}
# build_java_programs TARGET [-DNAME=VALUE]...: what they need is in TARGET/lib.
build_java_programs() {
    java_package "$ROOT/tests/e2e/sdk/java" "$@"
}

# class_path TARGET NAME...: these jars, and the programs.
class_path() {
    local target=$java_built/$1 name jar path
    shift

    path=$target/programs.jar
    for name; do
        for jar in "$target"/lib/$name.jar; do path+=:$jar; done
    done
    echo "$path"
}
