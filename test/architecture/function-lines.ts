// Counts a function's own lines. A function inside another is counted for itself: what makes code hard to hold in the head
// is the one body, and a factory of small closures has none.

import ts from 'typescript6';

export interface FunctionLength {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

export function measureFunctions(path: string, text: string): readonly FunctionLength[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: FunctionLength[] = [];
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line;

  /** Lines of the functions directly inside `node`, beyond the one line that stands for each. */
  function visit(node: ts.Node): number {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += visit(child);
    });
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return inner;
    const line = lineOf(node.getStart(file));
    const all = lineOf(node.end) - line + 1;
    const name =
      node.name?.getText(file) ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(file) : '');
    found.push({ name, line: line + 1, lines: all - inner });
    return all - 1;
  }

  visit(file);
  return found;
}
