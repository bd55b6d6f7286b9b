// Warnings about the settings that a `.env` file or a file of a project decides, so that the user sees them at every start.
import { escapeInvisibleLine } from '../../core/index.ts';
import type { EnvFile } from './env-files.ts';
import type { ProjectFile } from './project-suggestions.ts';
import { settingsSchema } from './schema.ts';
import type { Setting } from './settings.ts';

/** A warning about what the user's own `.env` file decides: the profile, the model, its provider and URL, and the directories. */
export function formatOwnEnvFileDecisions(
  envFile: EnvFile | undefined,
  all: ReadonlyMap<string, Setting>,
): readonly string[] {
  return envFile
    ? formatDecisions(envFile.file, all, (key) => /^(profile|model|provider|url|dirs\..*)$/.test(key))
    : [];
}

/** A warning about everything that trusted files of a project decide. Keys are named, because they decide which account is used. */
export const formatProjectDecisions = (
  files: readonly ProjectFile[],
  all: ReadonlyMap<string, Setting>,
): readonly string[] => files.flatMap(({ file }) => formatDecisions(file, all, (key) => suggestedKeys.has(key)));

/** The settings that a file of a project may suggest; limits and instructions are not reported at every start. */
const suggestedKeys: ReadonlySet<string> = new Set(
  Object.entries(settingsSchema).flatMap(([key, { variable, project }]) =>
    variable !== undefined || project === 'suggests' ? [key] : [],
  ),
);

function formatDecisions(
  file: string,
  all: ReadonlyMap<string, Setting>,
  isReported: (key: string) => boolean,
): readonly string[] {
  const decided = [...all].filter(([key, { origin }]) => 'file' in origin && origin.file === file && isReported(key));
  const values = decided.map(([key, { value, origin }]) =>
    settingsSchema[key]?.secret && origin.type === 'env-file'
      ? `the key ${origin.name}`
      : `${key} (${escapeInvisibleLine(String(value))})`,
  );
  return values.length > 0 ? [`${file} decides ${values.join(', ')}.`] : [];
}
