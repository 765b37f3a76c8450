// The template says what was meant: outcomes in the synthesised stack, with and without defaults.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, test } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { AgentStack, type AgentStackProps } from '../../infra/agent-stack.ts';

const apiCodePath = mkdtempSync(join(tmpdir(), 'api-'));
writeFileSync(join(apiCodePath, 'index.mjs'), 'export const handler = 0;');
afterAll(() => rmSync(apiCodePath, { recursive: true }));

function synthesize(props: Partial<AgentStackProps> = {}): Template {
  const app = new App({ context: cdkJson.context });
  return Template.fromStack(new AgentStack(app, 'Test', { apiCodePath, ...props }));
}

const template = synthesize();
const resources = (type: string) => Object.values(template.findResources(type));

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}
const statements = (): readonly Statement[] =>
  resources('AWS::IAM::Policy').flatMap((policy) => policy.Properties.PolicyDocument.Statement);

describe('every function', () => {
  const functions = resources('AWS::Lambda::Function').map((f) => f.Properties);

  test('is ours: no custom resources', () => {
    expect(functions.length).toBe(1);
    template.resourceCountIs('AWS::CloudFormation::CustomResource', 0);
  });

  test.each(functions)('runs on nodejs24.x, arm64, with timeout, memory, a cap and its own logs', (properties) => {
    expect(properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 900,
      MemorySize: 1024,
    });
    expect(properties.ReservedConcurrentExecutions).toBe(50);
    expect(properties.LoggingConfig.LogGroup).toEqual({ Ref: expect.any(String) });
    expect(properties.FunctionName).toBeUndefined();
  });

  test('its logs expire', () => {
    expect(resources('AWS::Logs::LogGroup').map((group) => group.Properties.RetentionInDays)).toEqual([30]);
  });
});

describe('grants', () => {
  test('no action has a wildcard, no managed policy is attached', () => {
    const actions = statements().flatMap(({ Action }) => Action);
    expect(actions.length).toBeGreaterThan(5);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
    expect(resources('AWS::IAM::Role').map((role) => role.Properties.ManagedPolicyArns)).toEqual([undefined]);
  });

  test('each names a resource of this stack', () => {
    const named = JSON.stringify(statements().map(({ Resource }) => Resource));
    expect(named).not.toContain('"*"');
    expect(named).toContain('/index/due');
    expect(statements().every(({ Resource }) => JSON.stringify(Resource).includes('Fn::GetAtt'))).toBe(true);
  });
});

test('the function URL streams and is open to bearer keys, with both permissions it needs', () => {
  template.hasResourceProperties('AWS::Lambda::Url', { InvokeMode: 'RESPONSE_STREAM', AuthType: 'NONE' });
  const actions = resources('AWS::Lambda::Permission').map((permission) => permission.Properties.Action);
  expect(actions.sort()).toEqual(['lambda:InvokeFunction', 'lambda:InvokeFunctionUrl']);
});

test('the table can be restored, expires rows, has the due index and survives the stack', () => {
  template.hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: Match.objectLike({
      TableName: Match.absent(),
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      GlobalSecondaryIndexes: [Match.objectLike({ IndexName: 'due' })],
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    }),
  });
});

test('the bucket is closed, refuses plain HTTP, sweeps abandoned uploads and survives the stack', () => {
  template.hasResource('AWS::S3::Bucket', {
    DeletionPolicy: 'Retain',
    Properties: Match.objectLike({
      BucketName: Match.absent(),
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      LifecycleConfiguration: {
        Rules: [Match.objectLike({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } })],
      },
    }),
  });
  template.hasResourceProperties('AWS::S3::BucketPolicy', {
    PolicyDocument: Match.objectLike({
      Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })],
    }),
  });
});

test('keys are parameters that nobody can read back from the stack', () => {
  const parameters = Object.entries(template.toJSON().Parameters as Record<string, { NoEcho?: boolean }>);
  const keys = parameters.filter(([name]) => name.endsWith('Key'));
  expect(keys.map(([, { NoEcho }]) => NoEcho)).toEqual([true, true]);
});

test('a stack for trying out goes with its data, and may do without the cap', () => {
  const dev = synthesize({ keepData: false, concurrencyMax: null });
  dev.hasResource('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'Delete' });
  dev.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
  dev.hasResourceProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: Match.absent() });
});

test('cdk-nag finds nothing that is not acknowledged with a reason', () => {
  const app = new App({ context: cdkJson.context, outdir: mkdtempSync(join(tmpdir(), 'nag-')) });
  new AgentStack(app, 'Nag', { apiCodePath });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).not.toThrow();
});
