import { describe, expect, it } from 'vitest';
import { videoLibraries, videoLibrary } from '../../../src/resources/kinds/video-library.ts';
import { exposeListing, unnoted } from '../expose.ts';

it('shows the figures of a library', async () => {
  const { rows, asked } = await exposeListing(
    videoLibrary,
    () => `{
      "Items": [
        {
          "Id": 4711,
          "Name": "training",
          "VideoCount": 128,
          "TrafficUsage": 734003200,
          "StorageUsage": 90210000000,
          "DateCreated": "2024-03-01T09:30:00",
          "ReplicationRegions": ["UK", "NY"],
          "ApiKey": "opens-the-library",
          "ReadOnlyApiKey": "reads-the-library",
          "ApiAccessKey": "signs-addresses",
          "PullZoneId": 90210,
          "StorageZoneId": 612300,
          "EnableDRM": true,
          "AppleFairPlayDrm": { "Enabled": true, "CertificateExpirationDate": "2026-12-01T00:00:00" },
          "GoogleWidevineDrm": { "Enabled": false, "CertificateExpirationDate": null },
          "EnableTranscribing": false,
          "MonthlyChargesTranscribing": 12.5,
          "MonthlyChargesPremiumEncoding": 3.25,
          "MonthlyChargesEnterpriseDrm": 99
        }
      ],
      "CurrentPage": 1,
      "TotalItems": 1,
      "HasMoreItems": false
    }`,
    { name: 'training' },
  );
  expect(asked).toEqual(['/videolibrary?includeAccessKey=true&page=1&perPage=100']);
  expect(rows).toBe(`\
bunnynet_video_library_info{library_id="4711",account="account",name="training",pull_zone_id="90210",storage_zone_id="612300"} 1
bunnynet_video_library_videos{library_id="4711"} 128
bunnynet_video_library_storage_bytes{library_id="4711"} 90210000000
bunnynet_video_library_replication_regions{library_id="4711"} 2
bunnynet_video_library_monthly_traffic_bytes{library_id="4711"} 734003200
bunnynet_video_library_transcribing_enabled{library_id="4711"} 0
bunnynet_video_library_monthly_transcribing_charges_dollars{library_id="4711"} 12.5
bunnynet_video_library_monthly_premium_encoding_charges_dollars{library_id="4711"} 3.25
bunnynet_video_library_drm_enabled{library_id="4711"} 1
bunnynet_video_library_monthly_enterprise_drm_charges_dollars{library_id="4711"} 99
bunnynet_video_library_drm_system_enabled{library_id="4711",system="fairplay"} 1
bunnynet_video_library_drm_system_enabled{library_id="4711",system="widevine"} 0
bunnynet_video_library_drm_certificate_expiration_timestamp_seconds{library_id="4711",system="fairplay"} 1796083200
`);
});

describe('the listing', () => {
  const list = async (...libraries: readonly object[]) => [
    ...(await videoLibraries.discover(() => Promise.resolve(libraries), undefined, unnoted, 0)).found,
  ];

  it('shows which libraries transcribe and which have DRM', async () => {
    const found = await list(
      { Id: 1, EnableTranscribing: true, EnableDRM: true },
      { Id: 2, EnableTranscribing: false, EnableDRM: true },
      { Id: 3, EnableTranscribing: null },
    );
    expect(found.map(({ features }) => features)).toEqual([
      ['EnableTranscribing', 'EnableDRM'],
      ['EnableDRM'],
      [],
    ]);
  });

  it('returns the key of a library as a function, and keeps no other secret', async () => {
    const [found] = await list({
      Id: 4711,
      Name: 'training',
      ApiKey: 'opens-the-library',
      ReadOnlyApiKey: 'reads-the-library',
      ApiAccessKey: 'signs-addresses',
    });
    expect(found?.ownKey?.key?.()).toBe('opens-the-library');
    expect(JSON.stringify(found)).not.toMatch(/opens|reads|signs/);
  });

  it.each([{ ApiKey: null }, { ApiKey: '', ReadOnlyApiKey: '' }, {}])(
    'includes a library without a key: %j',
    async (keys) => {
      expect(await list({ Id: 4711, ...keys })).toMatchObject([
        { ids: { library_id: '4711' }, ownKey: { key: undefined, isReadOnly: false } },
      ]);
    },
  );

  it('has the read-only key of a library that has no other', async () => {
    const [found] = await list({ Id: 4711, ApiKey: '', ReadOnlyApiKey: 'reads-the-library' });
    expect([found?.ownKey?.key?.(), found?.ownKey?.isReadOnly]).toEqual(['reads-the-library', true]);
  });
});
