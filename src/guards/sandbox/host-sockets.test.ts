// The kernel's table of Unix sockets: which entries are sockets that a command could connect to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSocketTable } from './host-sockets.ts';

test('sockets with a path that accept connections or messages are found', () => {
  const table = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000001: 00000002 00000000 00010000 0001 01 11430072 /run/listening.sock',
    '0000000000000002: 00000003 00000000 00000000 0001 03  1582',
    '0000000000000003: 00000003 00000000 00000000 0001 03 77 /run/listening.sock',
    '0000000000000004: 00000002 00000000 00010000 0001 01    12 @/tmp/abstract@',
    '0000000000000005: 00000002 00000000 00000000 0002 03 11430073 /run/datagrams of a log',
    '0000000000000006: 00000002 00000000 00010000 0005 01     9 ./relative.sock',
    '0000000000000007: 00000002 00000000 00010000 0001 01    10 /srv/a',
    'folder',
    '/line.sock',
    '0000000000000008: 00000002 00000000 00010000 0001 01    11 /srv/last.sock',
    '',
  ].join('\n');
  assert.deepEqual(
    parseSocketTable(table).map(({ id, name }) => [id, name]),
    [
      ['11430072', '/run/listening.sock'],
      ['11430073', '/run/datagrams of a log'],
      ['9', './relative.sock'],
      ['10', '/srv/a\nfolder\n/line.sock'],
      ['11', '/srv/last.sock'],
    ],
  );
  assert.deepEqual(parseSocketTable('Num       RefCount Protocol Flags    Type St Inode Path\n'), []);
});

test('the addresses of a machine with 32 bits are shorter', () => {
  const table =
    'Num RefCount Protocol Flags Type St Inode Path\n0000000a: 00000002 00000000 00010000 0001 01  1234 /x\n';
  assert.deepEqual(parseSocketTable(table), [{ id: '1234', name: '/x' }]);
});
