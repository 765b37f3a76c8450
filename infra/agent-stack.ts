// The whole deployment: storage, and the `api` function behind a streaming function URL.

import { CfnOutput, CfnParameter, Stack, type StackProps } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { TABLE } from '../shared/types/table.ts';
import { acknowledge } from './acknowledge.ts';
import { AgentFunction } from './agent-function.ts';
import { Storage, type StorageProps } from './storage.ts';

export interface AgentStackProps extends StackProps, StorageProps {
  /** Folder of the bundled `api` entry. */
  readonly apiCodePath: string;
  /** Most `api` environments at a time, the bound of what strangers can make the open URL cost; null = none. Default 50. */
  readonly concurrencyMax?: number | null;
}

export class AgentStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentStackProps) {
    super(scope, id, props);
    const { concurrencyMax = 50, keepData = true, apiCodePath } = props;
    const { table, bucket } = new Storage(this, 'Storage', { keepData });
    const secret = (name: string, description: string): string =>
      new CfnParameter(this, name, { type: 'String', noEcho: true, minLength: 8, description }).valueAsString;

    const api = new AgentFunction(this, 'Api', {
      description: 'Reprise: the HTTP API, with streamed answers',
      codePath: apiCodePath,
      concurrencyMax,
      environment: {
        ANTHROPIC_API_KEY: secret('AnthropicApiKey', 'Key for the Messages API'),
        REPRISE_API_KEY: secret('ClientKey', 'The first key with which clients of this service sign in'),
        REPRISE_DATA_DIR: '/tmp/reprise',
        REPRISE_TABLE: table.tableName,
        REPRISE_BUCKET: bucket.bucketName,
      },
    });
    api.lambda.addToRolePolicy(
      new PolicyStatement({
        // What the store port does: get, put, delete, list, and transactions of these with checks.
        actions: ['GetItem', 'PutItem', 'DeleteItem', 'ConditionCheckItem', 'Query'].map((verb) => `dynamodb:${verb}`),
        resources: [table.tableArn],
      }),
    );
    api.lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [`${table.tableArn}/index/${TABLE.indexName}`],
      }),
    );
    api.lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
        resources: [bucket.arnForObjects('*')],
      }),
    );
    api.lambda.addToRolePolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }));
    acknowledge(api, {
      [`IAM5[Resource::<${this.getLogicalId(bucket.node.defaultChild as CfnBucket)}.Arn>/*]`]:
        'Blobs are named by their hash, so no narrower path exists; the bucket holds nothing else.',
    });

    // NONE: clients sign in with bearer keys, which the application checks. With AWS_IAM every client would need AWS
    // credentials, and the SDK of the wire could not be used unchanged.
    const url = api.lambda.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    });
    new CfnOutput(this, 'Url', { value: url.url, description: 'baseURL for the SDK' });
  }
}
