// The `logout` command: removes the stored key of a provider from the private settings file.
import { readSettings } from '../../coding-agent/settings/index.ts';
import { print } from '../args/stdio.ts';
import { withOptions } from '../args/with-usage.ts';
import type { Command } from '../args/command.ts';
import { formatLogout } from '../login/format-logout.ts';

/** Removes a key; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage: 'Usage: fairlead logout [<provider>]   remove its stored key', options: {}, allowPositionals: true },
  async (_, [provider = '']) => {
    print(`${formatLogout(readSettings(), provider)}\n`);
    return 0;
  },
);
