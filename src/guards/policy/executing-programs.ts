// Lists of programs by what their arguments are: subcommands, commands and code, or addresses.

const subcommandPrograms: ReadonlySet<string> = new Set('git npm go cargo'.split(' '));

/** Returns true if only the listed subcommands of this program are known. */
export const isSubcommandProgram = (program: string): boolean => subcommandPrograms.has(program);

/** Programs that run a command, a script or code in their arguments. A rule covers only the words that it names. */
const executingPrograms: ReadonlySet<string> = new Set(
  [
    'awk gawk mawk nawk original-awk perl python python2 python3 pypy ruby lua luajit php node nodejs deno bun ed ex vi vim nvim view emacs nano m4 dc bc gdb lldb sqlite3',
    'osascript tclsh wish expect jjs irb ghci R Rscript octave psql mysql mariadb mongosh redis-cli socat nc ncat telnet ssh scp sftp rsync screen tmux byobu script scriptreplay ltrace strace gcc cc g++ clang ld as',
    'docker podman nerdctl kubectl helm crontab at batch systemctl systemd-run systemd-inhibit openssl zip unzip 7z cpio ar install dd split csplit sh bash dash zsh ksh ash fish mksh rbash csh tcsh pwsh busybox toybox',
    'sudo doas su runuser pkexec env xargs parallel nohup nice ionice setsid time timeout stdbuf chroot unshare nsenter firejail bwrap valgrind flock taskset chrt setarch linux32 linux64 i386 x86_64 arch watch entr numactl prlimit',
    'setpriv choom capsh rlwrap unbuffer faketime fakeroot fakechroot catchsegv perf hyperfine proxychains proxychains4 torsocks torify chronic ts ifne pee sponge cpulimit proot dbus-run-session dbus-launch xvfb-run sshpass with-contenv',
    'dumb-init tini gosu su-exec chpst softlimit setuidgid envdir envuidgid run-parts start-stop-daemon cgexec aa-exec caffeinate uv uvx poetry pipenv pdm hatch rye conda mamba micromamba bundle mise asdf direnv nix nix-shell nix-env',
    'dotenv op doppler aws-vault infisical vault pnpm pnpx yarn npx bunx corepack just task rake gulp grunt ant mvn gradle gradlew sbt bazel ninja cmake ctest tox nox watchexec nodemon concurrently foreman honcho overmind wasmtime wasmer qemu-x86_64',
    'ld.so exec command builtin eval source . trap alias unalias bind complete compgen enable hash export declare typeset local readonly set unset shopt read readarray mapfile getopts let cd pushd popd wait kill coproc umask ulimit',
    'git-shell gpg ssh-agent ssh-add ssh-keygen bat batcat delta tig gh glab hub fzf ansible ansible-playbook terraform vagrant aws gcloud az pre-commit tsx ts-node ts-node-esm jest vitest mocha ava',
  ].flatMap((line) => line.split(' ')),
);

/** Returns true if the arguments of this program can be a command, a script or code. */
export const isExecutingProgram = (program: string): boolean =>
  executingPrograms.has(program) ||
  isSubcommandProgram(program) ||
  /^(?:python|pypy|ruby|perl|lua|php|ld-linux|ld-musl)[\w.-]*$/.test(program);

/** Programs whose operands are addresses, with or without a scheme. */
const networkPrograms: ReadonlySet<string> = new Set(
  'curl wget wget2 http https xh xhs curlie httpie aria2c axel lynx w3m links elinks nc ncat netcat telnet socat websocat wscat grpcurl ab wrk hey'.split(
    ' ',
  ),
);

/** Returns true if the operands of this program are addresses. */
export const isNetworkProgram = (program: string): boolean => networkPrograms.has(program);

const shellBuiltins: ReadonlySet<string> = new Set(
  'alias unalias bind complete compgen enable hash export declare typeset local readonly set unset shopt read readarray mapfile getopts let eval source . trap printf test wait'.split(
    ' ',
  ),
);

/** Returns true for builtins that can change the variables, functions and options of the shell in which they run. */
export const changesShell = (program: string): boolean => shellBuiltins.has(program);
