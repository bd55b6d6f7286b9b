// Lints the Dockerfile and the compose file: with public linters for their syntax, and with our own checks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { settingsSchema } from '../../src/coding-agent/settings/schema.ts';
import { families } from '../../src/providers/families.ts';

type Instruction = { readonly word: string; readonly rest: string };

const secretPattern = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

function parseInstructions(text: string): readonly Instruction[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? [];
      return { word: word.toUpperCase(), rest };
    });
}

/** Returns the problems of a Dockerfile, one sentence each. */
export function lintDockerfile(text: string): readonly string[] {
  const all = parseInstructions(text);
  const of = (word: string, among = all): readonly string[] =>
    among.filter((each) => each.word === word).map(({ rest }) => rest);
  const last = all.slice(all.findLastIndex(({ word }) => word === 'FROM'));
  const stages = of('FROM').map((rest) => /^(\S+) AS (\w+)$/.exec(rest));
  const names = stages.map((stage) => stage?.[2]);
  const settings = [...of('ARG'), ...of('ENV')];
  const found: readonly (readonly [boolean, string])[] = [
    [names.join() === 'build,system,image', `the stages are ${names.join()}`],
    [stages.every((stage) => /^(\$\{NODE_IMAGE\}|system)$/.test(stage?.[1] ?? '')), 'a stage begins elsewhere'],
    [
      /^node:24-[\w.-]+(@sha256:[\da-f]{64})?$/.test(/^NODE_IMAGE=(.*)$/.exec(of('ARG')[0] ?? '')?.[1] ?? ''),
      'no exact image to begin with',
    ],
    [/^(?!root\b|0\b)\w+$/.test(of('USER', last).at(-1) ?? ''), 'it is run by root'],
    [!settings.some((each) => secretPattern.test(each)), 'a secret is built in'],
    [of('ADD').length === 0, 'something is fetched by ADD'],
    [
      of('RUN').every((rest) => !/npm (ci|install)/.test(rest) || rest.includes('--ignore-scripts')),
      'scripts of packages are run',
    ],
    [of('HEALTHCHECK', last).length === 1, 'there is no health check'],
    [['ENTRYPOINT', 'CMD'].every((word) => of(word, last)[0]?.startsWith('["')), 'a shell stands before the program'],
    [of('VOLUME', last).some((rest) => rest.includes('"/data"')), 'what is kept has no volume'],
  ];
  return [
    ...validate(text).map(({ message }) => String(message)),
    ...found.filter(([isWell]) => !isWell).map(([, sentence]) => sentence),
  ];
}

type Service = {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly [other: string]: unknown;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

/** A parsed compose file. */
export const parseCompose = (text: string): Compose => parse(text, { merge: true }) as Compose;

/** Every environment variable that the program reads. */
const knownVariables: ReadonlySet<string> = new Set([
  'HARNESS_API_KEY',
  'HARNESS_API_KEYS',
  ...Object.values(settingsSchema).flatMap(({ variable }) => variable ?? []),
  ...families.flatMap(({ urlVariables, keyVariables }) => [...urlVariables, ...keyVariables]),
]);

const parseSeconds = (given: unknown): number => Number(/^(\d+)s$/.exec(String(given))?.[1] ?? 0);

/** Returns the problems of a compose file, one sentence each. */
export function lintCompose(text: string): readonly string[] {
  const { services, networks } = parseCompose(text);
  const values = text.replaceAll(/^\s*#.*$/gm, '');
  const optional = [...values.matchAll(/\$\{?\w+(?!\w)(?!:\?)/g)].map(([each]) => `${each} may be empty`);
  const open = networks['store']?.internal === true ? [] : ['the network of the store is open'];
  const each = Object.entries(services).flatMap(([name, service]) =>
    lintService(name, service).map((fault) => `${name}: ${fault}`),
  );
  return [...lintComposeSchema(text), ...optional, ...open, ...each];
}

function lintService(name: string, service: Service): readonly string[] {
  const { image = '', environment = {}, ports = [], networks = [] } = service;
  const isOurs = name !== 'postgres';
  const strange = Object.keys(environment).filter((variable) => isOurs && !knownVariables.has(variable));
  const found: readonly (readonly [boolean, string])[] = [
    [isOurs ? image === 'fairlead' : /^[\w./-]+:\d[\w.-]*$/.test(image), 'its image is not named exactly'],
    [ports.every((port) => port.startsWith('127.0.0.1:')), 'others can reach it'],
    [strange.length === 0, `nobody reads ${strange.join()}`],
    [networks.includes('store') && (isOurs || networks.length === 1), 'its networks are others'],
    [parseSeconds(service['stop_grace_period']) >= 20, 'it is not given the time to end'],
    [
      service['privileged'] === undefined && !JSON.stringify(service).includes('docker.sock'),
      'it has the rights of the machine',
    ],
    [
      !isOurs || (service['read_only'] === true && service['init'] === true),
      'its system can be written, or has no init',
    ],
    [!isOurs || String(service['cap_drop']) === 'ALL', 'it has capabilities'],
    [!isOurs || String(service['security_opt']) === 'no-new-privileges:true', 'it may get rights'],
    [
      Object.entries(environment).every(([key, value]) => !secretPattern.test(key) || !value || value.startsWith('${')),
      'a secret is written into it',
    ],
  ];
  return found.filter(([isWell]) => !isWell).map(([, sentence]) => sentence);
}

/** The types of the package cannot be resolved from a module. */
type LintReport = readonly { readonly messages: readonly { readonly message: string }[] }[];

/** Validates with the schema of compose files and a linter; the order of keys is our choice. */
function lintComposeSchema(text: string): readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-compose-'));
  try {
    const file = path.join(folder, 'compose.yaml');
    writeFileSync(file, text);
    const rules = { 'service-keys-order': 0, 'top-level-properties-order': 0, 'require-quotes-in-ports': 0 } as const;
    const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
    const results = linter.lintFiles([file], false) as LintReport;
    return results.flatMap(({ messages }) => messages.map(({ message }) => message));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
