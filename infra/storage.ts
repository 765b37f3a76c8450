// What must outlive every deployment: the table with the log, the bucket with workspaces and files. Both are kept when the
// stack is deleted, unless `keepData` is false.

import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { TABLE } from '../shared/types/table.ts';
import { acknowledge } from './acknowledge.ts';

export interface StorageProps {
  /** Keep table and bucket when the stack is deleted or a change would replace them. Default true. */
  readonly keepData?: boolean;
}

export class Storage extends Construct {
  readonly table: TableV2;
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { keepData = true }: StorageProps = {}) {
    super(scope, id);
    const removalPolicy = keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
      sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: TABLE.expiry, // a broom only; nothing relies on it
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: keepData,
      globalSecondaryIndexes: [
        {
          indexName: TABLE.indexName,
          partitionKey: { name: TABLE.indexKey, type: AttributeType.STRING },
          sortKey: { name: TABLE.indexSort, type: AttributeType.STRING },
          projectionType: ProjectionType.ALL,
        },
      ],
      removalPolicy,
    });
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      lifecycleRules: [{ id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(7) }],
      removalPolicy,
    });
    acknowledge(this.bucket, {
      S1: 'Objects are immutable and named by their hash; who wrote one stands in the log. Access logs would need a second bucket.',
    });
  }
}
