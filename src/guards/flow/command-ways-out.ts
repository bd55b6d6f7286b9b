// Finds the ways out in a command line: programs that send data over a network, commands that publish, and programs that the line does not name.

/** Programs that are ways out wherever their name stands in a command line. */
const anywhere: ReadonlySet<string> = new Set(
  'curl wget wget2 aria2c axel httpie xh xhs curlie nc ncat netcat telnet socat websocat wscat grpcurl ssh scp sftp rsync ftp lftp tftp rclone mailx mutt sendmail msmtp swaks nslookup drill gsutil s3cmd wormhole croc ngrok cloudflared twine'.split(
    ' ',
  ),
);
/** Programs with names that are also plain words: they count as the first word of a command. */
const asProgram: ReadonlySet<string> = new Set(
  'http https mail host dig ping traceroute whois gh glab hub aws gcloud az doctl flyctl fly heroku vercel netlify firebase wrangler kubectl helm ansible terraform powershell pwsh osascript eval'.split(
    ' ',
  ),
);
/** Subcommands that publish or send. */
const publishing: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(?:push|send-email|request-pull)$/],
  ['npm', /^(?:publish|pub|login|adduser|unpublish|deprecate|dist-tag)$/],
  ['pnpm', /^publish$/],
  ['yarn', /^(?:publish|npm)$/],
  ['bun', /^publish$/],
  ['cargo', /^(?:publish|login|owner)$/],
  ['gem', /^(?:push|owner)$/],
  ['docker', /^(?:push|login|buildx)$/],
  ['podman', /^(?:push|login)$/],
  ['hg', /^(?:push|email)$/],
  ['svn', /^(?:commit|ci|import)$/],
  ['poetry', /^publish$/],
  ['uv', /^publish$/],
  ['dotnet', /^nuget$/],
  ['mvn', /^deploy$/],
  ['openssl', /^s_client$/],
]);
/** Programs that run another command. */
const wrappers: ReadonlySet<string> = new Set(
  'sudo doas env xargs parallel nohup nice time timeout stdbuf command exec builtin setsid watch sh bash dash zsh ksh'.split(
    ' ',
  ),
);
/** Interpreters with the option that gives them code. */
const inlineCode =
  /(?<![\w-])(?:python[\d.]*|node|nodejs|perl|ruby|php|lua|deno|bun)\s+(?:-[\w-]+\s+){0,4}(?:-\w*[cerp]\b|--eval\b|--print\b|eval\b)/;
/** A shell that reads its commands from another program. */
const pipedShell = /\|\s*(?:sudo\s+)?(?:\/\S*\/)?(?:ba|da|z|k)?sh\b/;

const baseName = (word: string): string => word.slice(word.lastIndexOf('/') + 1);
const maxWords = 5000;

/** The ways out of a command line, as far as its words show, such as `git push origin`. */
export function findCommandWaysOut(command: string): readonly string[] {
  const ways = new Set<string>();
  if (inlineCode.test(command)) ways.add('code in the command line');
  if (pipedShell.test(command)) ways.add('a shell that reads its commands');
  if (/\/dev\/(?:tcp|udp)\//.test(command)) ways.add('/dev/tcp');
  const parts = command.split(/\|\||&&|[;|&\n(){}`]/);
  let count = 0;
  for (const part of parts) {
    const words = part
      .trim()
      .split(/[\s'"]+/)
      .filter((word) => word !== '');
    count += words.length;
    // A line that is too long to read is not known to stay here.
    if (count > maxWords) ways.add('a long command line');
    if (count > maxWords) break;
    let at = 0;
    while (at < words.length && isPrefix(words[at] ?? '')) at += 1;
    const own = words.slice(at);
    const [first = ''] = own;
    // The program itself is computed: `$X`, `c''url`, `\curl`.
    if (/[$\\]/.test(first) || /^\S*['"]\S/.test(part.trim().split(/\s/)[at] ?? ''))
      ways.add('a program without a name');
    const program = baseName(first);
    if (asProgram.has(program) || publishing.get(program)?.test(findSubcommand(own))) ways.add(nameWay(own));
    for (const [i, word] of words.entries()) if (anywhere.has(baseName(word))) ways.add(nameWay(words.slice(i)));
  }
  return [...ways];
}

const isPrefix = (word: string): boolean => /^[A-Za-z_]\w*=|^-|^\d+[smhd]?$/.test(word) || wrappers.has(baseName(word));

/** Options in front of a subcommand that have a value. */
const valueOptions: ReadonlySet<string> = new Set(
  '-C -c --git-dir --work-tree --prefix --cwd --dir --filter -w'.split(' '),
);

const findSubcommand = (words: readonly string[]): string =>
  words.find((word, i) => i > 0 && !word.startsWith('-') && !valueOptions.has(words[i - 1] ?? '')) ?? '';

/** A program with its first words that are no options. */
const nameWay = ([program = '', ...rest]: readonly string[]): string =>
  [baseName(program), ...rest.filter((word) => !word.startsWith('-')).slice(0, 2)].join(' ').slice(0, 120);
