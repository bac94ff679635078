/**
 * The fields that the API documents of each operation, by API and path, where `{}` stands for an id. Only `--report` needs
 * them: it says which came and which did not. What is read, and how, is in src/resources.
 *
 * After a name, `{…}` has the fields of an object, `[…]` those of the elements of a list, and `{*}` an object whose keys are
 * data.
 */
import type { ApiName } from '../resources/resource.ts';

const notations: Readonly<Record<ApiName, Readonly<Record<string, string>>>> = {
  application: {
    '/apps': '{items[id name description displayEndpoint{id address type} status] meta{totalItems} cursor}',
    '/apps/{}/overview': `
      {targetLatency{indicator statusGrade} currentLatency{indicator statusGrade}
      activeRegions{indicator statusGrade} activeInstances{indicator statusGrade} desiredInstances
      status averageCPU{indicator statusGrade} averageRAM{indicator statusGrade}
      averageVolumesUsage{indicator statusGrade} regions[region isRequired instances status averageCPU
      averageRAM averageVolumesUsagePercentage requests anycastTraffic pods[name status lastHeartBeat
      outboundTrafficChart{*} cpuUsage ramUsage containers[id name cpuUsage ramUsage reason message
      status image imageDisplay numberOfRestarts exitCode] message volumesUtilizationPercentage{*}
      ephemeralStorageUsageBytes ephemeralStorageLimitBytes ephemeralStorageUsageRatio
      outboundConnectionsLimit outboundConnectionsRejectedDiff]] averageLatency totalVolumeSizeInGb
      monthlyCost latencyChart{*}}`,
    '/apps/{}/statistics': `
      {targetLatencyChart{*} activeRegionsChart{*} latencyChart{*} instancesChart{*} cpuUsageChart{*}
      ramUsageChart{*} trafficChart{*} volumesSplitUsageChart{*{*}} volumesSplitCapacityChart{*{*}}
      volumesUsageChart{*} volumesCapacityChart{*}}`,
    '/apps/{}/volumes': `
      {items[name id size totalUsage totalInstancesCount attachedInstancesCount containersCount
      volumeInstances[id attachedPods[] attachedContainers[] region status size usage set]]
      meta{totalItems} cursor summary{totalPods totalContainers totalStorage}}`,
    '/limits': `
      {maxNumberOfApplications existingNumberOfApplications maxNumberOfRegionsPerApplication
      maxNumberOfInstancesPerRegion maxNumberOfInstancesPerApplication
      maxNumberOfVolumesPerApplication maxVolumeSize}`,
    '/apps/{}/summary': `
      {averageLatency currentLatency totalVolumeSizeInGb monthlyCost latencyChart{*} status}`,
  },
  shield: {
    '/shield/shield-zones/pullzone-mapping': '{data[shieldZoneId pullZoneId]}',
    '/shield/shield-zone/{}/api-guardian': `
      {error data{configuration{shieldZoneId isEnabled executionMode title version maxEndpoints}
      endpoints[apiGuardianEndpointId shieldZoneId requestMethod requestMethods requestPath isEnabled
      rateLimitingEnabled rateLimitingRequestCount rateLimitingTimeframe]}}`,
    '/shield/rate-limits/{}': `
      {data[id shieldZoneId userId ruleName ruleDescription ruleJson ruleConfiguration{actionType}]
      page{totalCount totalPages currentPage nextPage pageSize} error}`,
    '/shield/metrics/overview/{}': `
      {data{overview{dDoSMitigated wafTriggeredRules ratelimitBreaches botDetectionChallenged
      accessListActions uploadScanningBlocks apiGuardianBlocks} waf{totalTriggeredRules
      blockedRequests loggedRequests challengedRequests} overviewPastTwentyEightDays{*{dDoSMitigated
      wafTriggeredRules ratelimitBreaches botDetectionChallenged accessListActions
      uploadScanningBlocks apiGuardianBlocks}} dDoS{loggedRequests verifiedRequests blockedRequests
      challengedRequests} dDoSOverviewPastTwentyEightDays{*{loggedRequests verifiedRequests
      blockedRequests challengedRequests}} ratelimit{totalBreaches loggedBreaches challengedBreaches
      blockedBreaches} ratelimitOverviewPastTwentyEightDays{*{totalBreaches loggedBreaches
      challengedBreaches blockedBreaches}} botDetection{loggedRequests challengedRequests}
      botDetectionOverviewPastTwentyEightDays{*{loggedRequests challengedRequests}}
      accessList{totalActions blockedRequests loggedRequests challengedRequests}
      accessListOverviewPastTwentyEightDays{*{totalActions blockedRequests loggedRequests
      challengedRequests}} uploadScanningOverviewPastTwentyEightDays{*{loggedRequests blockedRequests
      filesScanned}} apiGuardian{blockedRequests loggedRequests rateLimited requestsInspected
      failedRequestValidation failedAuthenticationEnforcement}
      apiGuardianOverviewPastTwentyEightDays{*{blockedRequests loggedRequests rateLimited
      requestsInspected failedRequestValidation failedAuthenticationEnforcement}}
      totalCleanRequestsLimit totalBillableRequests uploadScanning{loggedRequests blockedRequests
      filesScanned}} error}`,
    '/shield/metrics/overages/{}': `
      {shieldZoneId year month totalOverage totalCleanRequests segments[periodStart periodEnd planType
      overageAllowance overage] error}`,
    '/shield/metrics/shield-zone/{}/bot-detection': `
      {error data{overviewPastTwentyEightDays{*{loggedRequests challengedRequests}}
      totalLoggedRequests totalChallengedRequests}}`,
    '/shield/metrics/shield-zone/{}/upload-scanning': `
      {error data{overviewPastTwentyEightDays{*{loggedRequests blockedRequests filesScanned}}
      totalLoggedRequests totalBlockedRequests totalFilesScanned}}`,
    '/shield/metrics/shield-zone/{}/api-guardian': `
      {error data{totalBlockedRequests totalLoggedRequests totalRateLimited totalRequestsInspected
      totalFailedRequestValidation totalFailedAuthenticationEnforcement
      overviewPastTwentyEightDays{*{blockedRequests loggedRequests rateLimited requestsInspected
      failedRequestValidation failedAuthenticationEnforcement}}}}`,
    '/shield/metrics/overview/{}/detailed': `
      {data{waf{metrics{*{*}} totals{*}} ddos{metrics{*{*}} totals{*}} rateLimit{metrics{*{*}}
      totals{*}} accessLists{metrics{*{*}} totals{*}} botDetection{metrics{*{*}} totals{*}}
      uploadScanning{metrics{*{*}} totals{*}} apiGuardian{metrics{*{*}} totals{*}}
      totalCleanRequestsLimit totalBillableRequestsThisMonth resolution} error}`,
    '/shield/metrics/shield-zone/{}/api-guardian/endpoint/{}': `
      {error data{totalBlockedRequests totalLoggedRequests totalRateLimited totalRequestsInspected
      totalFailedRequestValidation totalFailedAuthenticationEnforcement
      overviewPastTwentyEightDays{*{blockedRequests loggedRequests
      rateLimited requestsInspected failedRequestValidation failedAuthenticationEnforcement}}}}`,
    '/shield/metrics/rate-limits/{}': `
      {data[ratelimitId overview{totalBreaches loggedBreaches challengedBreaches blockedBreaches}
      ratelimitOverviewPastTwentyEightDays{*{totalBreaches
      loggedBreaches challengedBreaches blockedBreaches}}] error}`,
    '/shield/shield-zones': `
      {data[shieldZoneId pullZoneId learningMode learningModeUntil wafEnabled wafExecutionMode
      wafDisabledRules[] wafLogOnlyRules[] wafCustomRuleOrder[] wafRequestHeaderLoggingEnabled
      requestBodyLoggingEnabled wafRequestIgnoredHeaders[] wafRealtimeThreatIntelligenceEnabled
      wafProfileId wafEngineConfig[name valueEncoded] wafRequestBodyLimitAction
      wafResponseBodyLimitAction rateLimitRulesLimit customWafRulesLimit planType
      dDoSShieldSensitivity dDoSExecutionMode dDoSChallengeWindow whitelabelResponsePages]
      page{totalCount totalPages currentPage nextPage pageSize} error}`,
  },
  core: {
    '/videolibrary': `
      {Items[Id Name VideoCount TrafficUsage StorageUsage DateCreated ReplicationRegions[] ApiKey
      ReadOnlyApiKey PullZoneId StorageZoneId EnableDRM AppleFairPlayDrm{Enabled
      CertificateExpirationDate} GoogleWidevineDrm{Enabled CertificateExpirationDate} ApiAccessKey
      EnableTranscribing MonthlyChargesTranscribing MonthlyChargesPremiumEncoding
      MonthlyChargesEnterpriseDrm] CurrentPage TotalItems HasMoreItems}`,
    '/pullzone': `
      {Items[Id Name OriginUrl Enabled Suspended Hostnames[Id Value ForceSSL IsSystemHostname
      HasCertificate] StorageZoneId EdgeScriptId MagicContainersAppId ZoneSecurityKey
      MonthlyBandwidthLimit MonthlyBandwidthUsed MonthlyCharges Type EnableOriginShield CnameDomain
      VideoLibraryId OptimizerEnabled EnableSafeHop OriginType] CurrentPage TotalItems HasMoreItems}`,
    '/dnszone': `
      {Items[Id Domain DateModified DateCreated NameserversDetected CustomNameserversEnabled
      LoggingEnabled DnsSecEnabled Records[Id Type Name Value Ttl Disabled MonitorType MonitorStatus
      Accelerated]] CurrentPage TotalItems HasMoreItems}`,
    '/storagezone': `
      {Items[Id Name Password DateModified Deleted StorageUsed FilesStored Region ReplicationRegions[]
      ReadOnlyPassword ZoneTier ReplicationChangeInProgress] CurrentPage TotalItems HasMoreItems}`,
    '/compute/script': `
      {Items[Id Name LastModified ScriptType CurrentReleaseId LinkedPullZones[Id] DeploymentKey
      MonthlyCost MonthlyRequestCount MonthlyCpuTime] CurrentPage TotalItems HasMoreItems}`,
    '/statistics': `
      {TotalBandwidthUsed TotalOriginTraffic AverageOriginResponseTime OriginResponseTimeChart{*}
      TotalRequestsServed CacheHitRate BandwidthUsedChart{*} BandwidthCachedChart{*}
      CacheHitRateChart{*} RequestsServedChart{*} PullRequestsPulledChart{*}
      OriginShieldBandwidthUsedChart{*} OriginShieldInternalBandwidthUsedChart{*}
      OriginTrafficChart{*} UserBalanceHistoryChart{*} GeoTrafficDistribution{*} Error3xxChart{*}
      Error4xxChart{*} Error5xxChart{*}}`,
    '/pullzone/{}/optimizer/statistics': `
      {RequestsOptimizedChart{*} AverageCompressionChart{*} TrafficSavedChart{*}
      AverageProcessingTimeChart{*} TotalRequestsOptimized TotalTrafficSaved AverageProcessingTime
      AverageCompressionRatio}`,
    '/pullzone/{}/originshield/queuestatistics': '{ConcurrentRequestsChart{*} QueuedRequestsChart{*}}',
    '/pullzone/{}/safehop/statistics': `
      {RequestsRetriedChart{*} RequestsSavedChart{*} TotalRequestsRetried TotalRequestsSaved}`,
    '/storagezone/{}/statistics': '{StorageUsedChart{*} FileCountChart{*}}',
    '/dnszone/{}/statistics': `
      {TotalQueriesServed QueriesServedChart{*} NormalQueriesServedChart{*} SmartQueriesServedChart{*}
      QueriesByTypeChart{*}}`,
    '/billing': `
      {Balance ThisMonthCharges LastRechargeBalance AvailableBalance CouponBalance MonthlyCouponUsage
      BillingRecords[Id PaymentId Amount Payer Timestamp Type InvoiceAvailable DocumentDownloadUrl
      DetailedDocumentDownloadUrl] BillingHistoryChart{*} MonthlyChargesEUTraffic
      MonthlyChargesUSTraffic MonthlyChargesASIATraffic MonthlyChargesAFTraffic
      MonthlyChargesSATraffic MonthlyChargesStorage MonthlyChargesDNS MonthlyChargesOptimizer
      MonthlyChargesTranscribe MonthlyChargesPremiumEncoding MonthlyChargesExtraPullZones
      MonthlyChargesExtraStorageZones MonthlyChargesExtraDnsZones MonthlyChargesExtraVideoLibraries
      MonthlyChargesScripting MonthlyChargesScriptingRequests MonthlyChargesScriptingCpu
      MonthlyChargesDrm MonthlyChargesMagicContainers MonthlyMcCpu{Usage TotalUnits MeasuringUnit}
      MonthlyMcMemory{Usage TotalUnits MeasuringUnit} MonthlyMcIp{Usage TotalUnits MeasuringUnit}
      MonthlyMcIngressTraffic{Usage TotalUnits MeasuringUnit} MonthlyMcEgressTraffic{Usage TotalUnits
      MeasuringUnit} MonthlyMcVolumes{Usage TotalUnits MeasuringUnit} MonthlyChargesShield
      MonthlyChargesTaxes MonthlyChargesWebSockets MonthlyChargesDB MonthlyChargesLoadBalancer
      MonthlyDBWrites{Usage TotalUnits MeasuringUnit} MonthlyDBReads{Usage TotalUnits MeasuringUnit}
      MonthlyDBStorage{Usage TotalUnits MeasuringUnit} MonthlyDBReplica{Usage TotalUnits
      MeasuringUnit} MonthlyBandwidthUsed MonthlyDnsSmartQueriesServed MonthlyDnsNormalQueriesServed
      MonthlyTranscriptionMinutes MonthlyPremiumEncodingBillableMinutes MonthlyDRMLicensesIssued
      MonthlyScriptingRequests MonthlyScriptingCpuTime BillingEnabled MinimumMonthlyCommit VATRate
      NextMonthVATRate AutomaticPaymentImageUrl AutomaticPaymentCardType AutomaticPaymentIdentifier
      AutomaticPaymentAmount AutomaticRechargeTreshold AutomaticRechargeEnabled
      AutomaticPaymentFailureCount SavedPaymentMethods[Token ImageUrl ExpirationDate LastFour Email]
      EUUSDiscount SouthAmericaDiscount AfricaDiscount AsiaOceaniaDiscount OptimizerMonthlyPrice
      DrmBaseMonthlyPrice DrmCostPerLicense}`,
    '/billing/summary': '[PullZoneId MonthlyUsage MonthlyBandwidthUsed]',
    '/videolibrary/{}/transcribing/statistics': '{TotalTranscriptionSeconds TranscriptionSecondsChart{*}}',
    '/videolibrary/{}/drm/statistics': '{TotalLicensesIssued LicensesIssuedChart{*}}',
    '/compute/script/{}/statistics': `
      {TotalRequestsServed TotalCpuUsed TotalMonthlyCost AverageCpuTimePerExecution
      RequestsServedChart{*} AverageCpuTimeChart{*} TotalCpuTimeChart{*}}`,
    '/storagezone/{}/statistics/egress': `
      {HttpEgressChart{*} S3EgressChart{*} S3PresignedEgressChart{*} FtpEgressChart{*}
      SftpEgressChart{*} TotalEgressChart{*} HttpEgressTotal S3EgressTotal S3PresignedEgressTotal
      FtpEgressTotal SftpEgressTotal TotalEgress}`,
    '/billing/payment-requests': `
      [Id Amount TaxRate TaxedAmount DateGenerated DateDue DatePaid Paid Description
      BillingInvoiceDownloadLink BankTransferReference BillingInvoiceId]`,
  },
  video: {
    '/library/{}/videos': `
      {totalItems currentPage itemsPerPage items[videoLibraryId guid title dateUploaded views length
      status encodeProgress storageSize collectionId averageWatchTime totalWatchTime
      transcodingMessages[]]}`,
    '/library/{}/statistics': `
      {viewsChart{*} watchTimeChart{*} countryViewCounts{*} countryWatchTime{*} engagementScore}`,
    '/library/{}/videos/{}/storage': `
      {success message statusCode data{encoded{*} thumbnails previews originals mp4Fallback
      miscellaneous calculatedAt}}`,
  },
};

/** What is documented of a value: the fields of an object, the values of a map, the elements of a list, or nothing. */
export interface Documented {
  readonly fields?: ReadonlyMap<string, Documented>;
  readonly values?: Documented;
  readonly elements?: Documented;
  /** Where only some of the fields come: a body has one form of several. */
  readonly hasForms?: true;
}

export interface Operation {
  readonly api: ApiName;
  /** With `{}` for each id. */
  readonly path: string;
  readonly answer: Documented;
}

/** The bodies of errors: problem details, the envelope, and what the core API has (reference 2.2, 2.3). */
export const errorBody: Documented = {
  ...parse(
    '{type title status detail instance errors[field message] id statusCode success message errorKey ErrorKey Field Message}',
  ),
  hasForms: true,
};

function parse(notation: string): Documented {
  const tokens = notation.match(/[{}[\]*]|[^\s{}[\]*]+/g) ?? [];
  let at = 0;
  const value = (): Documented => {
    if (tokens[at] === '[') return { elements: inside(']') };
    return tokens[at] === '{' ? inside('}') : {};
  };
  const inside = (end: string): Documented => {
    const fields = new Map<string, Documented>();
    let values: Documented | undefined;
    for (at++; tokens[at] !== end; ) {
      const name = tokens[at++] ?? '';
      const documented = value();
      if (Object.keys(documented).length > 0) at++;
      if (name === '*') values = documented;
      else fields.set(name, ['error', 'errorResponse'].includes(name) ? errorBody : documented);
    }
    return values ? { values } : { fields };
  };
  return value();
}

/** Every operation that is documented. */
export const operations: readonly Operation[] = Object.entries(notations).flatMap(([api, paths]) =>
  Object.entries(paths).map(([path, notation]) => ({ api: api as ApiName, path, answer: parse(notation) })),
);

/** The operation that a request asked for; undefined for one that is not documented. path: may have a query. */
export function operationOf(api: ApiName, path: string): Operation | undefined {
  const asked = path.split('?', 1)[0]?.split('/') ?? [];
  const fits = (parts: readonly string[]) =>
    parts.length === asked.length && parts.every((part, i) => part === '{}' || part === asked[i]);
  return operations.find((operation) => operation.api === api && fits(operation.path.split('/')));
}
