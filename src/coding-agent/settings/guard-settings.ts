// The settings of guards against untrusted text and data loss, and of the kind of sandbox.
import { listParser, numberParser, patternParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

const parseToolNames = listParser(
  patternParser(
    /^[\w.-]+\*?(?: [\w.-]+\*?)*$/,
    'names of tools, as a list or separated by spaces; a name can end with *',
  ),
);

/** The settings of the flow policy, of marks around untrusted text, of data loss prevention, and of the kind of sandbox. */
export const guardEntries: Readonly<Record<string, SettingEntry>> = {
  flow: {
    project: 'never',
    description: 'calls that untrusted text decides about: ask, deny, observe or off',
    parse: patternParser(/^(ask|deny|observe|off)$/, 'ask, deny, observe or off'),
  },
  'detector.threshold': {
    project: 'never',
    description: 'the score above which a question calls a text suspicious; by default 1.746, lower marks more texts',
    parse: numberParser(-30, 30),
  },
  'reviewer.model': {
    project: 'never',
    description: 'the model that reviews calls which the flow policy would ask about, in runs without a user',
    parse: textParser('the name of a model'),
  },
  'quarantine.tools': {
    project: 'never',
    description: 'tools whose results the model does not read, such as web_fetch mcp__mail__*',
    parse: parseToolNames,
  },
  'quarantine.model': {
    project: 'never',
    description: 'the model that reads quarantined text; by default that of the session',
    parse: textParser('the name of a model'),
  },
  spotlight: {
    project: 'never',
    description: 'how the model sees text from files, programs and networks: delimiters, datamarks or base64',
    parse: patternParser(/^(delimiters|datamarks|base64)$/, 'delimiters, datamarks or base64'),
  },
  dlp: {
    project: 'never',
    description:
      'personal data and secrets in what leaves this machine: checked (default: secrets and numbers with check digits become tokens), off, observe, redact, ask or block',
    parse: patternParser(/^(checked|off|observe|redact|ask|block)$/, 'checked, off, observe, redact, ask or block'),
  },
  'sandbox.kind': {
    project: 'never',
    description: 'the sandbox of commands: auto (the best one), bubblewrap, util-linux, container or microvm',
    parse: patternParser(
      /^(auto|bubblewrap|util-linux|container|microvm)$/,
      'auto, bubblewrap, util-linux, container or microvm',
    ),
  },
  'sandbox.kernel': {
    project: 'never',
    description: 'the kernel image of the sandbox microvm, as vmlinuz-<version>; by default the newest in /boot',
    parse: patternParser(/^\/[^\0\n]+$/, 'an absolute path'),
  },
  'sandbox.emulation': {
    project: 'never',
    description:
      'whether the sandbox microvm emulates the processor where there is no /dev/kvm, which is slow: true or false',
    parse: patternParser(/^(true|false)$/, 'true or false'),
  },
};
