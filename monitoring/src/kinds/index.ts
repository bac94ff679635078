/** The kinds with panels or rules, in the order of their rows on a dashboard. A new kind is one line here, and its file. */
import type { KindMonitoring } from '../kind.ts';
import { apiGuardian } from './api-guardian.ts';
import { apiGuardianZone } from './api-guardian-zone.ts';
import { applications } from './application.ts';
import { applicationAutoscaling } from './application-autoscaling.ts';
import { applicationLimits } from './application-limits.ts';
import { applicationOverview } from './application-overview.ts';
import { applicationStatistics } from './application-statistics.ts';
import { applicationVolume } from './application-volume.ts';
import { auditLog } from './audit-log.ts';
import { billing } from './billing.ts';
import { database } from './database.ts';
import { databaseStatistics } from './database-statistics.ts';
import { dnsRecord } from './dns-record.ts';
import { dnsZones } from './dns-zone.ts';
import { edgeScript } from './edge-script.ts';
import { edgeScriptUsage } from './edge-script-usage.ts';
import { loadBalancer } from './load-balancer.ts';
import { loadBalancerStatistics } from './load-balancer-statistics.ts';
import { loadBalancerUsage } from './load-balancer-usage.ts';
import { paymentRequests } from './payment-requests.ts';
import { pullZones } from './pull-zone.ts';
import { pullZoneOptimizer } from './pull-zone-optimizer.ts';
import { pullZoneOriginErrors } from './pull-zone-origin-errors.ts';
import { pullZoneOriginShield } from './pull-zone-origin-shield.ts';
import { pullZoneSafehop } from './pull-zone-safehop.ts';
import { pullZoneStatistics } from './pull-zone-statistics.ts';
import { rateLimit } from './rate-limit.ts';
import { rateLimitZone } from './rate-limit-zone.ts';
import { shieldAccessLists } from './shield-access-lists.ts';
import { shieldBotDetection } from './shield-bot-detection.ts';
import { shieldOverage } from './shield-overage.ts';
import { shieldOverview } from './shield-overview.ts';
import { shieldStatistics } from './shield-statistics.ts';
import { shieldTriggeredRules } from './shield-triggered-rules.ts';
import { shieldZone } from './shield-zone.ts';
import { storageZones } from './storage-zone.ts';
import { storageZoneEgress } from './storage-zone-egress.ts';
import { videoEncoding } from './video-encoding.ts';
import { videoLibrary } from './video-library.ts';
import { videoLibraryDrm } from './video-library-drm.ts';
import { videoLibraryStatistics } from './video-library-statistics.ts';
import { videoLibraryTranscribing } from './video-library-transcribing.ts';
import { videoStorage } from './video-storage.ts';

export const kinds: readonly KindMonitoring[] = [
  applications,
  applicationOverview,
  applicationAutoscaling,
  applicationVolume,
  applicationStatistics,
  shieldZone,
  shieldOverview,
  shieldStatistics,
  shieldOverage,
  shieldTriggeredRules,
  shieldAccessLists,
  shieldBotDetection,
  apiGuardianZone,
  apiGuardian,
  rateLimit,
  rateLimitZone,
  pullZones,
  pullZoneStatistics,
  pullZoneOriginErrors,
  pullZoneOptimizer,
  pullZoneOriginShield,
  pullZoneSafehop,
  loadBalancer,
  loadBalancerStatistics,
  loadBalancerUsage,
  storageZones,
  storageZoneEgress,
  dnsZones,
  dnsRecord,
  videoLibrary,
  videoLibraryStatistics,
  videoLibraryTranscribing,
  videoLibraryDrm,
  videoEncoding,
  videoStorage,
  billing,
  paymentRequests,
  auditLog,
  edgeScript,
  edgeScriptUsage,
  database,
  databaseStatistics,
  applicationLimits,
];
