// The skills and commands of a working directory; of the project's, with the text that counts. Loaded only if there are any.
import path from 'node:path';
import type { FileProblem, ProjectLocation } from '../../agent/index.ts';
import { findSkills, findUserCommands, formatSkills, parseSkill, skillTool } from '../../agent/project-files/index.ts';
import type { InstructionText } from './counted-texts.ts';
import { toResourceText, type ProjectResources } from './project-texts.ts';

/** The skills and commands that were found, before it was decided which texts count. */
type FoundResources = {
  readonly texts: readonly InstructionText[];
  readonly problems: readonly FileProblem[];
  /** The resources with the earlier texts, by the texts that do not count; without an earlier text a resource is left out. */
  readonly resolve: (earlier: ReadonlyMap<InstructionText, string>) => Promise<ProjectResources>;
};

/** Finds the skills, also in `skillDirs`, and the commands. */
export async function findResources(
  location: ProjectLocation,
  skillDirs: readonly string[] | false,
): Promise<FoundResources> {
  const [found, { commands, problems }] = await Promise.all([
    skillDirs === false ? { skills: [], problems: [] } : findSkills(location, skillDirs),
    findUserCommands(location),
  ]);
  const texts = new Map<object, InstructionText>();
  for (const each of commands) if (each.scope === 'project') texts.set(each, toResourceText(each.file, each.body));
  for (const each of found.skills)
    if (each.text !== undefined) texts.set(each, toResourceText(path.join(each.folder, 'SKILL.md'), each.text));
  return {
    texts: [...texts.values()],
    problems: [...found.problems, ...problems],
    async resolve(earlier) {
      const getEarlier = (each: object): string | undefined => {
        const text = texts.get(each);
        return text && earlier.get(text);
      };
      const parsed = await Promise.all(
        found.skills.map(async (each) => {
          const text = getEarlier(each);
          return text === undefined ? each : parseSkill(text, each);
        }),
      );
      const skills = parsed.filter((each) => 'name' in each);
      return {
        skills,
        skillSection: formatSkills(skills),
        skillTools: skills.length > 0 ? [skillTool(skills)] : [],
        commands: commands.flatMap((each) => {
          const body = getEarlier(each) ?? each.body;
          return body === '' ? [] : [{ ...each, body }];
        }),
      };
    },
  };
}
