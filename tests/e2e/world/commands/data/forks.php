<?php // SPDX-License-Identifier: Apache-2.0
foreach ([1, 2, 3, 4] as $number) {
    if ($pid = pcntl_fork()) {
        $children[$pid] = $number;
    } else {
        file_put_contents("child$number", hash('sha256', str_repeat('x', $number)));
        exit($number);
    }
}
foreach ($children as $pid => $number) {
    pcntl_waitpid($pid, $status);
    echo $number, ' ', pcntl_wexitstatus($status), ' ', file_get_contents("child$number"), "\n";
}
echo shell_exec('sort words');
throw new RuntimeException('at the end');
