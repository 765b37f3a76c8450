// Findings of cdk-nag that are meant to be so, each with its reason.

import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** `reasons`: rule, as `S1` or `IAM5[Resource::…]`, to why it is right here. */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
}
