// A hooks file of another program with its scripts, which a test copies into a directory unchanged.
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { writeFiles } from './program-dirs.ts';

const formatScriptPath = (name: string): string => `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${name}`;
const createCommandHook = (name: string, more: object = {}): object => ({
  type: 'command',
  command: formatScriptPath(name),
  ...more,
});

const settings = {
  permissions: { allow: ['Bash(ls:*)'], deny: [] },
  hooks: {
    PreToolUse: [
      { matcher: 'Bash', hooks: [createCommandHook('no-rm.sh')] },
      { matcher: 'Edit|MultiEdit|Write', hooks: [createCommandHook('protect-files.sh', { timeout: 20 })] },
    ],
    PostToolUse: [{ matcher: 'Write|Edit', hooks: [createCommandHook('after-edit.sh')] }],
    UserPromptSubmit: [{ hooks: [createCommandHook('prompt.sh')] }],
    Stop: [{ matcher: '', hooks: [createCommandHook('on-stop.sh')] }],
  },
};

const scripts: Readonly<Record<string, string>> = {
  'no-rm.sh': `#!/bin/sh
input=$(cat)
case "$input" in *'rm -rf'*) echo "rm -rf is not allowed here." >&2; exit 2 ;; esac
exit 0
`,
  'protect-files.sh': `#!/bin/sh
input=$(cat)
case "$input" in
  *'/.env"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Secrets stay as they are."}}' ;;
  *) echo checked ;;
esac
`,
  'after-edit.sh': `#!/bin/sh
cat > "$CLAUDE_PROJECT_DIR/seen-after.json"
echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"The formatter changed nothing."}}'
`,
  'prompt.sh': `#!/bin/sh
input=$(cat)
case "$input" in *'password is'*) echo "Words with a password stay here." >&2; exit 2 ;; esac
echo "The branch is main."
`,
  'on-stop.sh': `#!/bin/sh
input=$(cat)
case "$input" in *'"stop_hook_active":true'*) exit 0 ;; esac
echo '{"decision":"block","reason":"Run the tests before you stop."}'
`,
};

/** Writes the hooks file and its scripts to a folder. Returns a function from script name to path. */
export function writeHooks(folder: string): (name: string) => string {
  const place = (name: string): string => path.join('.claude/hooks', name);
  writeFiles(folder, {
    '.claude/settings.json': JSON.stringify(settings, undefined, 2),
    ...Object.fromEntries(Object.entries(scripts).map(([name, text]) => [place(name), text])),
  });
  for (const name of Object.keys(scripts)) chmodSync(path.join(folder, place(name)), 0o755);
  return (name) => path.join(folder, place(name));
}
