// Asks the user for a provider and its key, verifies the key and stores it. The key is never shown.
import { FairleadError, formatError } from '../../core/index.ts';
import { formatLoginTarget, login, loginProviders, type LoginResult } from '../../coding-agent/models/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import { printErr } from '../args/stdio.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { readSecret } from './read-secret.ts';

/** Lets the user enter a key until one works; returns the provider, or undefined if the user cancels. */
export async function enterKey(
  ui: TerminalUI,
  settings: Settings,
  named: string | undefined,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const provider = named ?? (await pickProvider(ui, signal));
  if (provider === undefined) return undefined;
  const isOwnServer = provider === 'openai-compatible';
  const url = isOwnServer
    ? await ui.askText?.('The URL of the server, such as https://host/v1', [], signal)
    : undefined;
  if (isOwnServer && url === undefined) return undefined;
  const target = formatLoginTarget(provider, url, settings);
  const hint = isOwnServer ? 'empty if it needs none' : 'Esc cancels';
  // The errors are printed where the key is typed: the screen is not drawn meanwhile.
  const stored = await ui.suspendFor(async () => {
    for (;;) {
      const key = await readSecret(`Key for ${target} (not shown; ${hint}): `, signal);
      if (key === undefined || (key.trim() === '' && !isOwnServer)) return undefined;
      try {
        printErr('Verifying the key …\n');
        return await login(settings, {
          provider,
          key,
          ...(url === undefined ? {} : { url }),
          ...(signal ? { signal } : {}),
        });
      } catch (error) {
        if (signal?.aborted || !(error instanceof FairleadError)) throw error;
        printErr(`${formatError(error)}\n`);
      }
    }
  });
  const text = stored ? formatLogin(stored, target) : 'No key was stored.';
  ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text });
  return stored?.provider;
}

/** States what a login stored. */
export const formatLogin = ({ modelCount, file, overriddenBy }: LoginResult, target: string): string =>
  `${target} accepted the key and lists ${modelCount} model${modelCount === 1 ? '' : 's'}. The key is in ${file}, which only you can read.${
    overriddenBy === undefined ? '' : ` ${overriddenBy} is set in the environment and overrides it.`
  }`;

async function pickProvider(ui: TerminalUI, signal: AbortSignal | undefined): Promise<string | undefined> {
  return ui.pick(
    'A key for which provider?',
    loginProviders.map(({ name, vendor, baseUrl }) => ({
      value: name,
      label: vendor ?? 'OpenAI-compatible server',
      description: vendor === undefined ? 'you enter its URL' : (URL.parse(baseUrl)?.host ?? baseUrl),
    })),
    { signal, noun: 'providers' },
  );
}
