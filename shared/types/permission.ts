// What decides whether a call runs: policies of the wire, modes, rules, and the decision with its reason.

export type PermissionPolicy = 'always_allow' | 'always_ask' | 'auto';
export type PermissionMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions';

/** A rule in Claude Code's syntax: `Bash(git diff:*)`, `Edit(src/**)`. */
export interface PermissionRule {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
}

export interface PermissionDecision {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** For people: which rule, mode or policy decided. */
  readonly reason: string;
}
