// The words of a shell script: texts that it gets as arguments, never as code, so that no path can change what it does.

/** Collects the arguments of a script. */
export type ScriptArguments = {
  /** Adds a text and returns how the script names it. */
  add(text: string): string;
  /** Adds several texts and returns how the script names them, separated by spaces. */
  addAll(texts: readonly string[]): string;
  /** Returns the arguments in order. */
  list(): readonly string[];
};

/** Creates an empty list of words. */
export function createScriptArguments(): ScriptArguments {
  const all: string[] = [];
  const known = new Map<string, string>();
  const add = (text: string): string => {
    const name = known.get(text) ?? `"\${${all.push(text)}}"`;
    known.set(text, name);
    return name;
  };
  return { add, addAll: (texts) => texts.map(add).join(' '), list: () => all };
}
