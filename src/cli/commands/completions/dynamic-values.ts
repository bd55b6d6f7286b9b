// Values for shell completion that only this machine knows: models, sessions and the trash.
import { escapeInvisibleLine } from '../../../core/index.ts';
import type { Settings } from '../../../coding-agent/settings/index.ts';

/** The values by kind. */
export const completionValues: Readonly<Record<string, (settings: Settings) => Promise<readonly string[]>>> = {
  async models(settings) {
    const { readKnownModels } = await import('../../../coding-agent/state/index.ts');
    const { listRouterNames } = await import('../../../coding-agent/models/index.ts');
    return [...(readKnownModels(settings) ?? []).map(({ id }) => id), ...listRouterNames(settings)];
  },
  async sessions({ dirs }) {
    const { listSessionFiles } = await import('../../../sessions/index.ts');
    return listSessionFiles(dirs).map(({ name }) => name);
  },
  async trash({ dirs }) {
    const { listTrash } = await import('../../../sessions/index.ts');
    return listTrash(dirs).map(({ name }) => name);
  },
};

/** The names as lines. One that holds a line break, or what does not show, could not be typed either: it is left out. */
/** Formats the names as lines. A name with a line break or an invisible character is left out, since it cannot be typed. */
export const formatCompletionLines = (names: readonly string[]): string =>
  names
    .filter((name) => escapeInvisibleLine(name) === name)
    .map((name) => `${name}\n`)
    .join('');
