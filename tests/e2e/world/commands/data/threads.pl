# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;
use threads;
use threads::shared;

my $total : shared = 0;
my @threads = map {
    my $number = $_;
    threads->create(sub { lock $total; $total += $number; $number ** 2 })
} 1 .. 8;
print join(" ", map { $_->join } @threads), " $total\n";
