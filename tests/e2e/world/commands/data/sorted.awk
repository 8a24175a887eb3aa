# SPDX-License-Identifier: Apache-2.0
{ print length($0), $0 |& "sort -rn" }
END {
    close("sort -rn", "to")
    while (("sort -rn" |& getline line) > 0)
        print NR, line
    "echo " NR * 6 | getline
    print
}
