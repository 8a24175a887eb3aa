# SPDX-License-Identifier: Apache-2.0
package require Thread
set threads {}
foreach n {1 2 3 4} {
    lappend threads [thread::create -joinable "
        set sum 0
        for {set i 0} {\$i < ${n}000} {incr i} {incr sum \$i}
        tsv::set sums $n \$sum
    "]
}
foreach thread $threads {thread::join $thread}
foreach n {1 2 3 4} {puts [tsv::get sums $n]}
puts [exec sort words | head -n 3 | tr a-z A-Z]
exec cat nowhere
