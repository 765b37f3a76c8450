// A function as Reprise runs it: Node 24 on Arm, a log group of its own that expires, a role with nothing but what is granted.

import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface AgentFunctionProps {
  readonly description: string;
  /** Folder with `index.mjs`, made by `npm run build`. */
  readonly codePath: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Default 15 minutes, the most that Lambda gives. */
  readonly timeout?: Duration;
  /** Default 1024. */
  readonly memoryMb?: number;
  /** Most environments at a time; null = the account's limit. */
  readonly concurrencyMax: number | null;
  /** Default one month. */
  readonly logRetention?: RetentionDays;
}

export class AgentFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: AgentFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetention ?? RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Not the managed basic policy: that one may write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(props.codePath),
      timeout: props.timeout ?? Duration.minutes(15),
      memorySize: props.memoryMb ?? 1024,
      environment: { ...props.environment },
      loggingFormat: LoggingFormat.JSON,
      logGroup,
      role,
      ...(props.concurrencyMax === null ? {} : { reservedConcurrentExecutions: props.concurrencyMax }),
    });
  }
}
