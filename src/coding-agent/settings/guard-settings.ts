// The settings of guards against untrusted text and data loss.
import { patternParser, textParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

/** The settings of the flow policy, of marks around untrusted text and of data loss prevention. */
export const guardEntries: Readonly<Record<string, SettingEntry>> = {
  flow: {
    project: 'never',
    description: 'calls that untrusted text decides about: ask, deny, observe or off',
    parse: patternParser(/^(ask|deny|observe|off)$/, 'ask, deny, observe or off'),
  },
  'reviewer.model': {
    project: 'never',
    description: 'the model that reviews calls which the flow policy would ask about, in runs without a user',
    parse: textParser('the name of a model'),
  },
  spotlight: {
    project: 'never',
    description: 'how the model sees text from files, programs and networks: delimiters, datamarks or base64',
    parse: patternParser(/^(delimiters|datamarks|base64)$/, 'delimiters, datamarks or base64'),
  },
  dlp: {
    project: 'never',
    description: 'personal data and secrets in what leaves this machine: off, observe, redact, ask or block',
    parse: patternParser(/^(off|observe|redact|ask|block)$/, 'off, observe, redact, ask or block'),
  },
};
