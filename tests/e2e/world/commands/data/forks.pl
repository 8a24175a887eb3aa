# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;

my @readers;
for my $number (1 .. 6) {
    my $pid = open(my $from, "-|") // die "fork: $!";
    if (!$pid) {
        print "child $number: ", join(" ", map { $_ ** $number } 1 .. 9), "\n";
        exit $number;
    }
    push @readers, $from;
}
for my $from (@readers) {
    print <$from>;
    close $from;
    print "status ", $? >> 8, "\n";
}
print sort `cat words`;
