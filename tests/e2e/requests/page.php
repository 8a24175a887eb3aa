<?php // SPDX-License-Identifier: Apache-2.0
// What a page works for: see ../sdk/truth.h. The query has the ids, 48 digits.
$ids = hex2bin($_SERVER['QUERY_STRING']);
$file = fopen('TRUTH', 'r+');
stream_set_read_buffer($file, 0);
stream_set_write_buffer($file, 0);
$at = getmypid() % 4096 * 64;
function put($offset, $bytes)
{
    global $file, $at;
    fseek($file, $at + $offset);
    fwrite($file, $bytes);
}
fseek($file, $at);
$sequence = unpack('P', fread($file, 8))[1];
for ($round = 0; $round < 6; $round++) {
    if ($round == 3)
        strlen(file_get_contents('php://input'));
    put(8, pack('VV', getmypid(), getmypid()) . $ids . str_repeat("\0", 24));
    put(0, pack('P', ++$sequence));
    for ($i = $sum = 0; $i < 30000; $i++)
        $sum += $i;
    put(0, pack('P', ++$sequence));
}
echo "ok\n";
