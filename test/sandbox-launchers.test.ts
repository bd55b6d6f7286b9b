// The two sandboxes of namespaces, bubblewrap and util-linux: the same commands read, write, see and reach the same things in both.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ExecOptions, ExecResult } from '../src/core/index.ts';
import { chooseSandbox, withSandbox, type Sandbox, type SandboxPaths } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';

const search = process.env['PATH'] ?? '';
const modes = ['bubblewrap', 'util-linux'] as const;
type Mode = (typeof modes)[number];

async function unavailable(mode: Mode): Promise<string | false> {
  const { name, description } = await chooseSandbox({
    mode,
    roots: [realpathSync(tmpdir())],
    home: '/nowhere',
    path: search,
  });
  return name === 'refused' && description;
}

const [noBubblewrap, noUtilLinux] = await Promise.all([unavailable('bubblewrap'), unavailable('util-linux')]);

type Fixture = {
  readonly place: string;
  readonly root: string;
  readonly home: string;
  readonly open: (mode: Mode, more?: Partial<SandboxPaths>) => Promise<Sandbox>;
  readonly run: (mode: Mode, command: string, options?: ExecOptions & { access?: 'read' }) => Promise<ExecResult>;
};

function setup(t: TestContext, rootName = 'root'): Fixture {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fl-launch-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));
  const [root, home] = [path.join(place, rootName), path.join(place, 'home')];
  for (const each of [root, home]) mkdirSync(each, { recursive: true });
  const open: Fixture['open'] = (mode, more = {}) =>
    chooseSandbox({ mode, roots: [root], home, path: search, quarantine: path.join(place, 'trash'), ...more });
  return {
    place,
    root,
    home,
    open,
    async run(mode, command, { access = 'write', ...options }: ExecOptions & { access?: 'read' | 'write' } = {}) {
      const workspace = withSandbox(localWorkspace({ roots: [root] }), await open(mode), { access });
      return workspace.exec(command, { timeoutMs: 60_000, ...options });
    },
  };
}

/** What a command may find out, each with a command that prints it. The output must be the same in both sandboxes. */
const probes = {
  user: 'id -u; id -g; stat -c %u:%g . / /tmp /usr "$HOME"',
  'folders of the root': 'ls -A /',
  devices: 'ls -A /dev /dev/pts | grep -v "^core$"; stat -c "%F %a %t %T" /dev/null /dev/tty /dev/urandom',
  'modes of folders': 'stat -c "%n %a" / /tmp /dev /proc "$HOME" /dev/shm',
  'read-only mounts': `awk '{ split($6, o, ","); print o[1], $5 }' /proc/self/mountinfo | grep -v -e ' /proc/' | sort`,
  'flags of mounts': `awk '$6 !~ /nosuid/ { print $5 }' /proc/self/mountinfo; awk '$6 !~ /nodev/ { print $5 }' /proc/self/mountinfo | sort`,
  'writes outside': `for f in /x /usr/x /etc/x /dev/x /run/x /var/x /proc/sys/kernel/x "$HOME/x" /tmp/x ../x; do (echo x > "$f") 2>/dev/null && echo "$f"; done`,
  'kernel settings':
    'for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/user/max_user_namespaces; do (echo x > $f) 2>/dev/null && echo "$f"; done',
  privileges: `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status`,
  'gain of privileges': `for c in 'mount -t tmpfs x /tmp' 'mount -o remount,rw /usr' 'umount /proc/sys' 'unshare -U true' 'unshare -m true' 'chroot / true' 'mknod /tmp/d c 1 3' 'hostname other'; do ($c) >/dev/null 2>&1 && echo "$c"; done`,
  processes: `ls /proc | grep -c '^1$'; readlink /proc/1/exe >/dev/null && echo own; kill -0 ${process.pid} 2>&1 | grep -c 'No such'; cat /proc/${process.pid}/environ 2>&1 | grep -c 'No such'`,
  'interfaces of the network': `sed 1,2d /proc/net/dev | cut -d: -f1; ls /proc/net/unix && sed 1d /proc/net/unix | wc -l; cat /proc/net/route | wc -l`,
  'keys of processes': 'cat /proc/keys 2>/dev/null | wc -l',
  'message queues': 'sed 1d /proc/sysvipc/shm | wc -l',
  terminal:
    '(: < /dev/tty) 2>/dev/null || echo none; ps -o sid= -p $$ >/dev/null 2>&1; cat /proc/self/stat | cut -d" " -f7',
  limits: 'ulimit -a | sort | grep -v -e pending -e "max locked" -e "stack"',
  variables: `env | cut -d= -f1 | sort | grep -v -e ^_$ -e ^OLDPWD$ -e ^SHLVL$ -e ^PWD$; echo "$HOME" "$TMPDIR" "$PWD"`,
  'open files': 'ls /proc/self/fd | sort',
  cgroup: 'cat /proc/self/cgroup',
  'the protected files':
    '(echo x >> .git/config) 2>/dev/null && echo git; (echo x >> .env) 2>/dev/null && echo env; mv .git other 2>/dev/null && echo moved; mkdir .git/hooks 2>/dev/null && echo hooks; (echo x >> AGENTS.md) 2>/dev/null && echo agents; cat AGENTS.md',
  'the secrets of the system':
    'cat /etc/shadow 2>/dev/null | wc -c; ls /root /home /var /run /sys /mnt 2>/dev/null | wc -l',
  'the own files':
    'echo new > made; mkdir -p sub/deep; ln -s sub link; echo y > sub/deep/f; cat made link/deep/f; stat -c %u made; rm -r made sub link',
  'the exit code of a program that a signal ends': '{ bash -c "kill -SEGV \\$\\$"; echo $?; } 2>/dev/null',
} as const;

test(
  'the same commands find the same in bubblewrap and in the util-linux sandbox',
  { skip: noBubblewrap || noUtilLinux },
  async (t) => {
    const { root, run } = setup(t);
    execFileSync('git', ['init', '-q', root]);
    writeFileSync(path.join(root, 'AGENTS.md'), 'instructions\n');
    writeFileSync(path.join(root, '.env'), 'A=1\n');
    for (const access of ['write', 'read'] as const) {
      const differences: Record<string, unknown> = {};
      const script = Object.entries(probes)
        .map(([name, command]) => `echo '== ${name}'; (${command}) 2>&1`)
        .join('\n');
      const outputs = await Promise.all(
        modes.map(async (mode) => {
          const { text } = await run(mode, script, access === 'read' ? { access } : {});
          return new Map(text.split(/^== /m).map((part) => [part.split('\n')[0] ?? '', part] as const));
        }),
      );
      for (const name of Object.keys(probes)) {
        const [first, second] = outputs.map((output) => output.get(name));
        assert.ok(first, `${name} printed something`);
        if (first !== second) differences[name] = { bubblewrap: first, 'util-linux': second };
      }
      assert.deepEqual(differences, {});
    }
  },
);

/** Names that a shell, a mount table or an option parser could read as something else. */
const hostileNames = [
  'a b',
  `q'uo"te`,
  'back\\slash',
  'octal\\040name\\',
  '-o remount,rw',
  '--',
  'new\nline /usr none rbind 0 0',
  'tab\tname',
  '$(touch pwned)`touch pwned`',
  '; touch pwned & touch pwned | touch pwned',
  '${1}"${2}',
  '#hash',
  '*?[a]',
  'ünïcödé 漢字',
  'a|rw ',
];

for (const mode of modes)
  test(
    `[attack 169] the name of a folder is never code or a mount option for ${mode}`,
    { skip: mode === 'bubblewrap' ? noBubblewrap : noUtilLinux },
    async (t) => {
      for (const name of hostileNames) {
        const { place, root, run } = setup(t, name);
        mkdirSync(path.join(root, '.git'));
        writeFileSync(path.join(root, '.git/config'), '[core]\n');
        const { code, text } = await run(
          mode,
          'pwd; echo ok > made; echo evil >> .git/config; echo evil > ../out; echo x > /usr/x; true',
        );
        assert.equal(code, 0, `${JSON.stringify(name)}: ${text}`);
        assert.ok(text.startsWith(`${root}\n`), text);
        assert.equal(readFileSync(path.join(root, 'made'), 'utf8'), 'ok\n');
        assert.equal(readFileSync(path.join(root, '.git/config'), 'utf8'), '[core]\n');
        assert.deepEqual(
          readdirSync(place).filter(
            (each) => !['home', 'trash', 'running-commands', name.split('/')[0]].includes(each),
          ),
          [],
        );
      }
      assert.ok(!existsSync('pwned'));
      assertAttack(t, 169, ['blocked']);
    },
  );

/** Runs a command in a sandbox, in a process that has mounts of its own; `argv`: the sandbox, the folder, the home, the command, and the kinds of access. */
const childScript = `
import { chooseSandbox, withSandbox } from ${JSON.stringify(path.resolve(import.meta.dirname, '../src/guards/index.ts'))};
import { localWorkspace } from ${JSON.stringify(path.resolve(import.meta.dirname, '../src/workspace/index.ts'))};
const [, , mode, root, home, command, ...accesses] = process.argv;
const sandbox = await chooseSandbox({ mode, roots: [root], home, path: process.env.PATH });
for (const access of accesses) {
  const { text } = await withSandbox(localWorkspace({ roots: [root] }), sandbox, { access }).exec(command);
  process.stdout.write(access + ': ' + text);
}
`;

for (const mode of modes)
  test(
    `[attack 170] a file system that is mounted inside a folder is as read-only as the folder in ${mode}, and keeps its flags`,
    { skip: noUtilLinux || (mode === 'bubblewrap' && noBubblewrap) },
    (t) => {
      const { place, root, home } = setup(t);
      for (const name of ['data', 'data/deep', 'plain']) mkdirSync(path.join(root, name), { recursive: true });
      const child = path.join(place, 'child.mjs');
      writeFileSync(child, childScript);
      const mounts = [
        'mount -t tmpfs -o noexec tmpfs "$1/data" && mkdir "$1/data/deep" && mount -t tmpfs tmpfs "$1/data/deep"',
        'printf "#!/bin/sh\\necho ran\\n" > "$1/data/program" && chmod 755 "$1/data/program"',
        'shift; exec "$@"',
      ];
      const command =
        '(echo x > data/made) 2>/dev/null && printf "data "; (echo x > data/deep/made) 2>/dev/null && printf "deep "; (./data/program) 2>/dev/null && printf "program "; echo end';
      const { stdout, stderr } = spawnSync(
        'unshare',
        [
          '-U',
          '-r',
          '-m',
          'sh',
          '-c',
          mounts.join(' && '),
          'sh',
          root,
          process.execPath,
          child,
          mode,
          root,
          home,
          command,
          'read',
          'write',
        ],
        { encoding: 'utf8' },
      );
      assert.equal(stdout, 'read: end\nwrite: data deep end\n', stderr);
      assertAttack(t, 170, ['blocked']);
    },
  );

test(
  '[attack 171] a mount that is missing or writable, although no step failed, ends the start',
  { skip: noUtilLinux },
  async (t) => {
    const { root, open } = setup(t);
    const argv = (await open('util-linux')).confine?.(['/bin/sh', '-c', 'echo started'], root) ?? [''];
    const isEntry = (word: string): boolean => / none rbind,ro,/.test(word);
    const entry = argv.findIndex((word) => isEntry(word) && word.startsWith('/usr '));
    assert.ok(entry > 0, 'an entry of the mount table');
    const changes: Readonly<Record<string, readonly string[]>> = {
      'started\n': argv,
      'a writable mount': argv.with(entry, argv[entry]?.replace('rbind,ro,', 'rbind,') ?? ''),
      'a missing mount': argv.with(entry, '# nothing'),
      'a mount that is not in the plan': argv.with(entry, `${argv[entry]}\n/var /sys/srv none rbind,X-mount.mkdir 0 0`),
    };
    for (const [what, [program = '', ...args]] of Object.entries(changes)) {
      const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
      if (what === 'started\n') assert.deepEqual([status, stdout], [0, what], stderr);
      else assert.ok(status !== 0 && stdout === '', `${what}: ${stdout}`);
      if (what.includes('writable')) assert.match(stderr, /a mount of the sandbox is missing or writable/);
    }
    assertAttack(t, 171, ['blocked']);
  },
);

/** Returns the ids of processes whose command line contains a text. */
const processesWith = (text: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });

for (const mode of modes)
  test(
    `[attack 79] a command in ${mode} ends with the program that ran it, even after kill -9`,
    { skip: mode === 'bubblewrap' ? noBubblewrap : noUtilLinux, timeout: 60_000 },
    async (t) => {
      const { place, root, home } = setup(t);
      const child = path.join(place, 'child.mjs');
      writeFileSync(child, childScript);
      const marker = `marker-${path.basename(place)}`;
      const command = `(setsid sh -c "sleep 300 # ${marker}" &); touch started; sleep 300`;
      // The kill comes from a shell, as it would from a user.
      const script = `"$@" & while [ ! -e "$0/started" ]; do sleep 0.05; done; kill -9 $!; wait`;
      spawnSync('sh', ['-c', script, root, process.execPath, child, mode, root, home, command, 'write']);
      assert.ok(existsSync(path.join(root, 'started')));
      while (processesWith(marker).length > 0) await new Promise((wake) => setTimeout(wake, 20));
    },
  );
