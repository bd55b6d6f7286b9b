// The filter of system calls, as the kernel applies it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { assertAttack } from '../../../test/support/attack-report.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { withSandbox } from './sandbox.ts';
import { seccompFilterFile, seccompFilter } from './seccomp.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-seccomp-')));
const sandbox = await chooseSandbox({ roots: [root], home: homedir(), path: process.env['PATH'] ?? '' });
const noPerl = spawnSync('perl', ['-e', '1']).status === 0 ? false : 'no perl here to make system calls with';
const noFilter = seccompFilter(process.arch) === undefined ? `no filter for ${process.arch}` : false;
const skip = sandbox.name === 'refused' ? sandbox.description : (sandbox.limitation ?? noFilter) || noPerl;

test.after(() => rmSync(root, { recursive: true, force: true }));

/** System calls by number: keyctl, bpf, mount, unshare, and common ones. */
const numbers = process.arch === 'arm64' ? [219, 280, 40, 97, 172] : [250, 321, 165, 272, 39];

test(
  '[attack 76] [attack 77] system calls that bypass the namespaces are refused, and ordinary ones are not',
  { skip },
  async () => {
    const inside = withSandbox(localWorkspace({ roots: [root] }), sandbox);
    const script = [
      `for my $n (${numbers.join(', ')}, 425) { my $r = syscall($n, 0, 0, 0, 0, 0); print $r < 0 ? ($!+0) . " " : "done " }`,
      // Sockets: of the hypervisor host (vsock), of the kernel crypto API, and an ordinary one.
      'for my $f (40, 38, 1) { print socket(my $s, $f, 1, 0) ? "open " : ($!+0) . " " }',
      'my $b = "x" x 64; open(my $t, "<", "/dev/null"); for my $o (0x5412, 0x5401) { ioctl($t, $o, $b) or print $!+0, " " }',
    ].join('; ');
    const { text } = await inside.exec(['perl', '-e', script], {});
    const [refused, notTerminal] = [1, 25];
    assert.equal(
      text,
      [...Array(4).fill(refused), 'done', refused, refused, refused, 'open', refused, notTerminal, ''].join(' '),
    );
  },
);

test('[attack 121] only ordinary socket families open, and the kernel log cannot be read', { skip }, async (t) => {
  const inside = withSandbox(localWorkspace({ roots: [root] }), sandbox);
  const syslog = process.arch === 'arm64' ? 116 : 103;
  const script = [
    // Each family with every type: a family is refused by the filter (1), not because the kernel does not know it.
    'my (@open, @other); for my $f (0..63) { for my $type (1, 2, 3, 5) { socket(my $s, $f, $type, 0) ? push(@open, $f) : $! == 1 || push(@other, $f) } }',
    'my %seen; print join(",", grep { !$seen{$_}++ } sort { $a <=> $b } @open, @other), " "',
    'print socketpair(my $a, my $b, 1, 1, 0) ? "pair" : "none", " ", socketpair(my $c, my $d, 30, 1, 0) ? "pair" : $!+0, " "',
    `my $r = syscall(${syslog}, 10, 0, 0); print $r < 0 ? $!+0 : "size $r"`,
  ].join('; ');
  const { text } = await inside.exec(['perl', '-e', script], {});
  assertAttack(t, 121, [text === '1,2,10,16 pair 1 1' ? 'contained' : 'done'], text);
});

test('[attack 160] no file gets a set-user-id or set-group-id bit, and other modes work', { skip }, async (t) => {
  const inside = withSandbox(localWorkspace({ roots: [root] }), sandbox);
  const made = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}-set-id`);
  const script = [
    'use Fcntl',
    `for my $mode (04755, 02755, 06711) { open(my $f, ">", "${made[0]}"); chmod($mode, $f) and print "fchmod "; chmod($mode, "${made[0]}") and print "chmod " }`,
    `sysopen(my $g, "${made[1]}", O_RDWR | O_CREAT, 04755) and print "open "`,
    `sysopen(my $h, "${made[2]}", O_RDWR | O_CREAT, 0755) or print "no file "`,
    `chmod(0600, "${made[2]}") or print "no mode "`,
    'mkdir("folder", 0755) or print "no folder "',
    'print "end"',
  ].join('; ');
  const { text } = await inside.exec(['perl', '-e', script], {});
  const set = made.filter((name) => (statSync(path.join(root, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o6000);
  assert.equal(statSync(path.join(root, made[2] ?? '')).mode & 0o7777, 0o600);
  assertAttack(t, 160, [text === 'end' && set.length === 0 ? 'blocked' : 'done'], text);
});

test('the filter is in a file that only its owner can read', { skip: noFilter }, () => {
  const file = seccompFilterFile() ?? '';
  assert.ok(existsSync(file));
  assert.equal(statSync(file).mode & 0o777, 0o400);
  assert.equal(seccompFilterFile(), file);
});

test('every jump of a filter has a target inside the filter', () => {
  for (const arch of ['x64', 'arm64'] as const) {
    const filter = seccompFilter(arch) ?? Buffer.alloc(0);
    const lines = filter.length / 8;
    for (let at = 0; at < lines; at++)
      assert.ok(
        at + 1 + Math.max(filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)) < lines || at === lines - 1,
      );
    assert.equal(filter.readUInt32LE((lines - 1) * 8 + 4), 0x7fff_0000);
  }
  assert.equal(seccompFilter('mips'), undefined);
});
