/** The kinds that have panels or rules, in the order in which they share a dashboard. A new kind is one line here, and its file. */
import type { KindMonitoring } from '../kind.ts';
import { apiGuardianMonitoring } from './api-guardian.ts';
import { applicationMonitoring } from './application.ts';
import { applicationLimitsMonitoring } from './application-limits.ts';
import { applicationOverviewMonitoring } from './application-overview.ts';
import { applicationStatisticsMonitoring } from './application-statistics.ts';
import { applicationVolumeMonitoring } from './application-volume.ts';
import { billingMonitoring } from './billing.ts';
import { dnsRecordMonitoring } from './dns-record.ts';
import { dnsZoneMonitoring } from './dns-zone.ts';
import { edgeScriptMonitoring } from './edge-script.ts';
import { edgeScriptUsageMonitoring } from './edge-script-usage.ts';
import { paymentRequestsMonitoring } from './payment-requests.ts';
import { pullZoneMonitoring } from './pull-zone.ts';
import { pullZoneOptimizerMonitoring } from './pull-zone-optimizer.ts';
import { pullZoneOriginShieldMonitoring } from './pull-zone-origin-shield.ts';
import { pullZoneSafehopMonitoring } from './pull-zone-safehop.ts';
import { pullZoneStatisticsMonitoring } from './pull-zone-statistics.ts';
import { rateLimitMonitoring } from './rate-limit.ts';
import { shieldOverageMonitoring } from './shield-overage.ts';
import { shieldOverviewMonitoring } from './shield-overview.ts';
import { shieldStatisticsMonitoring } from './shield-statistics.ts';
import { shieldZoneMonitoring } from './shield-zone.ts';
import { storageZoneMonitoring } from './storage-zone.ts';
import { storageZoneEgressMonitoring } from './storage-zone-egress.ts';
import { videoEncodingMonitoring } from './video-encoding.ts';
import { videoLibraryMonitoring } from './video-library.ts';
import { videoLibraryDrmMonitoring } from './video-library-drm.ts';
import { videoLibraryStatisticsMonitoring } from './video-library-statistics.ts';
import { videoLibraryTranscribingMonitoring } from './video-library-transcribing.ts';
import { videoStorageMonitoring } from './video-storage.ts';

export const kinds: readonly KindMonitoring[] = [
  applicationMonitoring,
  applicationOverviewMonitoring,
  applicationVolumeMonitoring,
  applicationStatisticsMonitoring,
  shieldZoneMonitoring,
  shieldOverviewMonitoring,
  shieldStatisticsMonitoring,
  shieldOverageMonitoring,
  apiGuardianMonitoring,
  rateLimitMonitoring,
  pullZoneMonitoring,
  pullZoneStatisticsMonitoring,
  pullZoneOptimizerMonitoring,
  pullZoneOriginShieldMonitoring,
  pullZoneSafehopMonitoring,
  storageZoneMonitoring,
  storageZoneEgressMonitoring,
  dnsZoneMonitoring,
  dnsRecordMonitoring,
  videoLibraryMonitoring,
  videoLibraryStatisticsMonitoring,
  videoLibraryTranscribingMonitoring,
  videoLibraryDrmMonitoring,
  videoEncodingMonitoring,
  videoStorageMonitoring,
  billingMonitoring,
  paymentRequestsMonitoring,
  edgeScriptMonitoring,
  edgeScriptUsageMonitoring,
  applicationLimitsMonitoring,
];
