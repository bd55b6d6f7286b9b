// Fuzzes the reading of hosts: curl command lines that a policy allows for one host are run by real curl through a recording proxy on loopback.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from './execute-commands.ts';
import { quoteWord, type FuzzCase, type Fuzzer } from './fuzz-run.ts';
import { splitList, type Random } from './random.ts';

const pieces = [
  ' ',
  ...splitList(
    'http:// , https:// , HTTP:// , http:/ , http: , ftp:// , file:// , gopher:// , // , / , \\ , @ , : , ? , # , . , .. , & , ; , = , , , % , ok.test , ok.test , ok.test , a.ok.test , evil.test , evil.test , OK.TEST , user , user:pw@ , :80 , :8080 , : , [::1] , 127.0.0.1 , 0x7f.1 , 2130706433 , %2e , %40 , %2f , %5c , %00 , %0a , [ , ] , { , } , {ok.test,evil.test} , [1-2] , " , \' , \t , ~ , * , ^ , | , < , > , $ , ! , + , _ , - , \u3002 , \uff0e , \u00ad , \u200b , \u2024 , \u00df , \u0131 , \uff4f\uff4b , \u2460 , \u00a0 , xn--',
  ),
];

const separators = [
  '@',
  '\\@',
  "'@",
  '"@',
  '#@',
  '?@',
  '/@',
  '%40',
  '\\',
  '/',
  ':80@',
  ';@',
  '&@',
  ' @',
  ':',
  '.',
  ',',
  '',
];
const hosts = ['ok.test', 'evil.test', 'a.ok.test', 'OK.test', 'ok.test.', 'ok.test.evil.test'];
const schemes = ['http://', 'https://', 'HTTP://', 'http:', 'http:/', 'http:///', '//', ''];
const tails = [
  '',
  '/',
  '/a',
  '/?r=http://ok.test/',
  '//http://ok.test/',
  '?x=http://ok.test',
  '#http://ok.test/',
  '/x://ok.test/',
];

function generateAddress(random: Random): string {
  if (random.below(2) === 0)
    return (
      random.pick(schemes) +
      random.pick(hosts) +
      random.pick(separators) +
      random.pick([...hosts, '', '']) +
      random.pick(tails)
    );
  const start = random.pick(['http://', 'https://', 'http://ok.test', 'http://ok.test/', 'http://a.ok.test', '']);
  return start + Array.from({ length: random.below(6) }, () => random.pick(pieces)).join('');
}

const optionWords = splitList(
  '-s , -sS , -I , -v , -f , -4 , --silent , --fail , -m , -x , --url , -L , -K , -e , -o , --proxy , --resolve , --connect-to , --max-time',
);

/** The fuzzer of hosts. */
export const hostFuzzer: Fuzzer = {
  name: 'hosts',
  rules: [{ allow: { command: 'curl', host: ['ok.test', '*.ok.test'] } }],
  generate(random) {
    const words = [generateAddress(random)];
    if (random.below(4) === 0) words.push(generateAddress(random));
    if (random.below(3) === 0) words.splice(random.below(words.length + 1), 0, random.pick(optionWords));
    const filled = words.filter((each) => each !== '');
    return { command: ['curl', ...filled.map((each) => quoteWord(each, random))].join(' '), words: filled };
  },
  execute: executeByCurl,
  unavailable: () => findProgram('curl') === undefined && 'needs curl',
};

const concurrency = 4;

async function executeByCurl(cases: readonly FuzzCase[]): Promise<readonly FuzzCase[]> {
  const hits: FuzzCase[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-fuzz-'));
  try {
    for (let start = 0; start < cases.length; start += concurrency) {
      const batch = cases.slice(start, start + concurrency);
      const found = await Promise.all(batch.map(({ words = [] }) => requestsOtherHost(words, folder)));
      hits.push(...batch.filter((_, at) => found[at]));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return hits;
}

/** Returns true if curl requests a host that the rule does not name. */
async function requestsOtherHost(words: readonly string[], folder: string): Promise<boolean> {
  const requested: string[] = [];
  const proxy = createServer((request, response) => {
    requested.push(request.url ?? '');
    response.end('x');
  });
  proxy.on('connect', (request, socket) => {
    requested.push(`https://${request.url ?? ''}`);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const child = spawn('curl', ['--no-progress-meter', ...words], {
    stdio: 'ignore',
    timeout: 60_000,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', http_proxy: address, https_proxy: address, all_proxy: address },
  });
  await once(child, 'exit');
  proxy.close();
  proxy.closeAllConnections();
  return requested.some((url) => !isAllowedRequest(url));
}

/** A request line names the host as curl read it. */
function isAllowedRequest(url: string): boolean {
  const host = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#:]*)/i.exec(url)?.[1]?.toLowerCase().replace(/\.$/, '') ?? '';
  return host === 'ok.test' || host.endsWith('.ok.test');
}
