// Attacks through commands that every gate allowed, run in the terminal's own sandbox. What they reach is observed.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { AttackOutcome } from '../scripts/attacks/catalogue.ts';
import { chooseSandbox, withSandbox } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { createAttackFixture, type AttackFixture } from './support/attack-fixture.ts';
import { noSandbox } from './support/sandbox.ts';
import { assertAttack } from './support/attack-report.ts';

const skip = await noSandbox();

/** Returns the output of a command that every gate allowed. */
async function runInSandbox(fixture: AttackFixture, command: string, seconds = 20): Promise<string> {
  const workspace = withSandbox(localWorkspace({ roots: [fixture.root] }), fixture.codingAgent.sandbox);
  const { text, stopped } = await workspace.exec(command, { timeoutMs: seconds * 1000 });
  return stopped === undefined ? text : `${text}ended by us`;
}

const containedIf = (holds: boolean): readonly AttackOutcome[] => [holds ? 'contained' : 'done'];

test(
  '[attack 17] [attack 81] endless loops, brace bombs, disk filling and memory use end with the command',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t);
    const endless = await runInSandbox(fixture, 'while :; do :; done', 1);
    const braces = await runInSandbox(fixture, 'echo {1..1000000} | wc -w', 60);
    assertAttack(t, 17, containedIf(endless.endsWith('ended by us') && /1000000|memory|ended by us/.test(braces)));
    const limits = await runInSandbox(
      fixture,
      'ulimit -n; ulimit -f; ulimit -d; ulimit -c; cat /proc/self/oom_score_adj',
    );
    assertAttack(t, 81, containedIf(/^4096\n\d+\n8388608\n0\n1000\n/.test(limits)));
  },
);

test(
  '[attack 32] [attack 84] processes, devices, sockets and keys of the machine are not visible',
  { skip },
  async (t) => {
    const name = 'ATTACK_API_KEY';
    process.env[name] = 'a-key-that-nobody-may-see-1';
    t.after(() => delete process.env[name]);
    const fixture = await createAttackFixture(t);
    writeFileSync(path.join(fixture.home, 'diary'), 'private');
    const text = await runInSandbox(
      fixture,
      `cat ${fixture.home}/diary /proc/${process.pid}/environ /proc/1/mem /dev/mem /run/docker.sock /var/run/docker.sock /etc/shadow; ls /sys/kernel /run/user /tmp/.X11-unix ~/.ssh; ls /proc/self/root${fixture.siblingDir}; echo end`,
    );
    assertAttack(t, 32, containedIf(text.includes('end') && !/private|a-key-that|root:\S*:\d{4}/.test(text)));
    const env = await runInSandbox(
      fixture,
      'env; echo "$SSH_AUTH_SOCK|$ATTACK_API_KEY|"; cat /proc/1/environ | tr "\\0" "\\n"',
    );
    assertAttack(t, 84, [env.includes('||') && !env.includes('a-key-that') ? 'blocked' : 'done']);
  },
);

test('[attack 35] archives with paths outside the workspace extract nothing there', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  await runInSandbox(
    fixture,
    `mkdir d; echo x > d/f; tar -cPf up.tar --transform 's,^d/f,../app-beside/f,' d/f; tar -xPf up.tar; ln -s ${fixture.siblingDir} l; tar -cf link.tar l; rm l; tar -xf link.tar; echo x > l/g`,
  );
  assertAttack(t, 35, containedIf(readdirSync(fixture.siblingDir).length === 0));
});

test('[attack 76] the network is not reachable, not even localhost', { skip }, async (t) => {
  let reached = 0;
  const server = createServer((socket) => (reached++, socket.end('hello')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const fixture = await createAttackFixture(t);
  const at = `127.0.0.1/${address.port}`;
  const text = await runInSandbox(
    fixture,
    `(exec 3<>/dev/tcp/${at}; cat <&3); (exec 3<>/dev/udp/${at}; echo x >&3); timeout 5 getent hosts example.com; timeout 5 python3 -c "
import socket
for kind in (socket.SOCK_RAW, socket.SOCK_STREAM):
    try: s = socket.socket(socket.AF_INET, kind); s.connect(('127.0.0.1', ${address.port})); print('reached')
    except OSError as e: print('no')
"; ls /sys/class/net; echo end`,
  );
  assertAttack(t, 76, containedIf(text.endsWith('end\n') && reached === 0 && !/reached|hello/.test(text)));
});

test('[attack 77] [attack 78] no privileges can be gained inside', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  const text = await runInSandbox(
    fixture,
    'unshare -Ur true && echo GOT; mount -t tmpfs x /mnt && echo GOT; chroot / true && echo GOT; grep -E "CapEff|CapBnd|NoNewPrivs|Seccomp:" /proc/self/status',
  );
  assertAttack(t, 77, containedIf(!text.includes('GOT') && /CapEff:\s+0+$/m.test(text)));
  assertAttack(t, 78, containedIf(/NoNewPrivs:\s+1/.test(text) && /CapBnd:\s+0+$/m.test(text)));
});

test('[attack 79] [attack 80] no process stays, and there is no terminal for TIOCSTI input', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  const alive = path.join(fixture.root, 'alive');
  await runInSandbox(
    fixture,
    `setsid nohup sh -c 'while :; do date +%s%N > ${alive}; sleep 0.05; done' >/dev/null 2>&1 & until [ -s ${alive} ]; do sleep 0.05; done`,
  );
  const words = (): string => readFileSync(alive, 'utf8');
  // The kernel needs a moment to kill a process tree; a daemon that survived keeps writing.
  let isStill = false;
  for (let tries = 0; tries < 10 && !isStill; tries++) {
    const once = words();
    await new Promise((resolve) => setTimeout(resolve, 400));
    isStill = words() === once;
  }
  assertAttack(t, 79, containedIf(isStill));
  const text = await runInSandbox(fixture, '(echo x > /dev/tty) 2>&1; ls /dev/pts; tty; echo end');
  assertAttack(t, 80, [
    /No such device|No such file|not a tty/.test(text) && text.includes('end') ? 'blocked' : 'done',
  ]);
});

const programs: Readonly<Record<string, string>> = {
  'deletes the home directory': 'rm -rf ~/* ~root/* 2>&1; echo',
  'writes a startup file': 'echo evil >> ~/.bashrc; echo evil > /etc/profile.d/x.sh',
  'reads keys': 'cat /etc/shadow ~/.ssh/* ~root/.ssh/*',
  'kills other processes': 'kill -9 -1 & sleep 0.1; pkill -9 node; kill -9 $PPID',
  'installs a scheduled job': 'echo "* * * * * x" | crontab -; echo x > /etc/cron.d/x',
  'changes the system':
    'sysctl -w kernel.hostname=evil; date -s 2001-01-01; hostname evil; echo 1 > /proc/sysrq-trigger',
  'writes next to the directory': 'echo x > ../app-beside/evil; mkdir ../evil',
};

test('[attack 86] harmful programs of several kinds change nothing outside', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  writeFileSync(path.join(fixture.home, 'diary'), 'private');
  const saw: AttackOutcome[] = [];
  for (const [kind, command] of Object.entries(programs)) {
    const text = await runInSandbox(fixture, command, 10);
    const holds =
      existsSync(path.join(fixture.home, 'diary')) &&
      readdirSync(fixture.siblingDir).length === 0 &&
      !/root:\S*:\d{4}|PRIVATE KEY/.test(text);
    assert.ok(holds, kind);
    assert.ok(
      ['/etc/profile.d/x.sh', '/etc/cron.d/x'].every((file) => !existsSync(file)),
      kind,
    );
    saw.push('contained');
  }
  assertAttack(t, 86, saw, `${saw.length} kinds tried`);
});

async function getRefusalOutcome(t: TestContext, search: (root: string) => string): Promise<AttackOutcome> {
  const { root, home } = await createAttackFixture(t);
  mkdirSync(path.join(root, 'bin'));
  writeFileSync(path.join(root, 'bin/bwrap'), '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexec "$@"\n');
  chmodSync(path.join(root, 'bin/bwrap'), 0o755);
  const sandbox = await chooseSandbox({ roots: [root], home, path: search(root) });
  const ran = await withSandbox(localWorkspace({ roots: [root] }), sandbox)
    .exec('touch made', {})
    .then(
      () => true,
      () => false,
    );
  return ran || existsSync(path.join(root, 'made')) || existsSync(path.join(root, 'bin/ran')) ? 'done' : 'blocked';
}

test('[attack 82] [attack 83] without a sandbox no command runs, and a sandbox program inside the project is not used', async (t) => {
  assertAttack(t, 82, [await getRefusalOutcome(t, () => '/nowhere')]);
  assertAttack(t, 83, [await getRefusalOutcome(t, (root) => path.join(root, 'bin'))]);
});

test('[attack 85] a call cannot choose its working directory', async (t) => {
  const fixture = await createAttackFixture(t);
  assertAttack(t, 85, [
    (await fixture.attempt('run_command', { command: 'pwd', cwd: '/' }, true)).how,
    (await fixture.attempt('list_files', { path: '/' }, true)).how,
    (await fixture.attempt('grep', { pattern: 'root', path: '/etc' }, true)).how,
  ]);
});
